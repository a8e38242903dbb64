import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { answering, CREDENTIAL, stage, tcpOrigin, testAuthority, tlsOrigin } from '../proxy/test-stage.ts'
import { childEnvironment } from './child-environment.ts'
import { readTrustBase, writeTrustFiles } from './trust-files.ts'

/** Full paths of further Nodes, so that the suite runs on every version that a child may be. */
const FURTHER = 'BROKER_TEST_NODES'
const further = (process.env[FURTHER] ?? '').split(delimiter).filter(Boolean)
export const nodes: readonly string[] = [process.execPath, ...further]
export const whyNoFurtherNodes = further.length === 0 && `${FURTHER} names no further Node`

interface NodeChild {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface NodeStage {
  /** The child's environment. */
  readonly environment: Readonly<Record<string, string>>
  /** Runs a CommonJS script as a child of `broker run` would be, and gives what it wrote, each line a member. */
  lines(script: string, more?: Readonly<Record<string, string>>): Promise<readonly string[]>
  run(args: readonly string[], more?: Readonly<Record<string, string>>): Promise<NodeChild>
}

/**
 * A run's proxy, and behind it, reachable by name through the proxy alone: `api.prov.test`, which is routed and answers
 * 401 without the credential; `bare.test`, which sends back what it gets by TLS; `h2.test`, HTTP/2 alone; `plain.test`,
 * plain HTTP.
 */
export async function nodeStage(
  t: TestContext,
  node: string,
  user: Readonly<Record<string, string>> = {},
): Promise<NodeStage> {
  const { proxy } = await stage(t, {
    'api.prov.test': await tlsOrigin(t, answering(judging)),
    'bare.test': await tlsOrigin(t, (socket) => void socket.pipe(socket)),
    'plain.test': await tcpOrigin(t, answering(judging)),
    'h2.test': { port: await http2Port(t) } as never,
  })
  const folder = mkdtempSync(join(tmpdir(), 'broker-preload-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const roots = join(folder, 'roots.pem')
  writeFileSync(roots, testAuthority().caPem)
  const inherited = { PATH: process.env['PATH'] ?? '', NODE_EXTRA_CA_CERTS: roots, ...user }
  const { environment } = childEnvironment({
    inherited,
    proxy: { port: proxy.port, openPort: undefined, ...proxy.credentials },
    trust: writeTrustFiles(folder, proxy.caPem ?? '', readTrustBase(inherited, { withJava: false })),
    placeholders: {},
    routedHosts: ['api.prov.test'],
  })
  const run: NodeStage['run'] = async (args, more) => {
    const child = spawn(node, args, { env: { ...environment, ...more }, stdio: ['ignore', 'pipe', 'pipe'] })
    const closed = once(child, 'close')
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [code] = await closed
    return { code, stdout, stderr }
  }
  return {
    environment,
    run,
    async lines(script, more) {
      const { code, stdout, stderr } = await run(['--eval', script], more)
      // Nothing of ours may be printed, and a failure is to be seen.
      if (stderr !== '' || code !== 0) throw new Error(`The child ended with ${code}: ${stdout}${stderr}`)
      return stdout.trimEnd().split('\n')
    },
  }
}

function judging(head: string): string {
  if (/^upgrade:/im.test(head)) return upgraded(head)
  const body = head.includes(CREDENTIAL) ? 'authentic' : 'bare'
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** Enough of a WebSocket's beginning to see whose credential came. */
function upgraded(head: string): string {
  return `HTTP/1.1 ${head.includes(CREDENTIAL) ? '418 Authentic' : '401 Bare'}\r\nContent-Length: 0\r\n\r\n`
}

async function http2Port(t: TestContext): Promise<number> {
  const server = createSecureServer({
    SNICallback: (name, done) => done(null, testAuthority().secureContextFor(name)),
  })
  server.on('request', (_request, response) => response.end('two'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}
