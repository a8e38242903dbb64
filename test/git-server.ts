import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { createCertificateAuthority } from '../src/proxy/index.ts'

export interface GitServer {
  readonly port: number
  /** PEM of the authority that its certificate comes from. */
  readonly caPem: string
  /** `Authorization` of every request so far, by host; empty where there was none. */
  readonly seen: readonly (readonly [host: string, authorization: string])[]
  close(): void
}

/** Git's own smart HTTP server with TLS, on loopback, under these names; it lets nobody in without their credential. */
export async function startGitServer(root: string, wanted: Readonly<Record<string, string>>): Promise<GitServer> {
  const authority = createCertificateAuthority(Object.keys(wanted), new Date())
  const seen: [string, string][] = []
  const server = createServer({ SNICallback: (name, done) => done(null, authority.secureContextFor(name)) })
  server.on('request', (request, response) => {
    const { host = '', authorization = '' } = request.headers
    seen.push([host, authorization])
    if (authorization === wanted[host]) answer(root, request, response)
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { port: address.port, caPem: authority.caPem, seen, close }
}

/** A bare repository with one commit on `main`. */
export function makeRepository(root: string, name: string): void {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', join(root, name), ...args], { encoding: 'utf8', env: gitEnvironment(root) }).trim()
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', join(root, name)])
  const tree = git('hash-object', '-t', 'tree', '-w', '/dev/null')
  git('update-ref', 'refs/heads/main', git('commit-tree', tree, '-m', 'Begin'))
}

/** An author, and nothing from the configuration of whoever runs the test. */
export function gitEnvironment(home: string): Readonly<Record<string, string>> {
  const who = { name: 'Ada', email: 'ada@example.test' }
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: who.name,
    GIT_AUTHOR_EMAIL: who.email,
    GIT_COMMITTER_NAME: who.name,
    GIT_COMMITTER_EMAIL: who.email,
  }
}

/** `git http-backend` is a CGI program. */
function answer(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'https://git.test')
  const header = (name: string) => String(request.headers[name] ?? '')
  const backend = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: 'ada',
      REQUEST_METHOD: request.method,
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: header('content-type'),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      HTTP_GIT_PROTOCOL: header('git-protocol'),
    },
  })
  backend.stdin.on('error', () => undefined)
  request.pipe(backend.stdin)
  const parts: Buffer[] = []
  backend.stdout.on('data', (part: Buffer) => parts.push(part))
  backend.on('close', () => {
    const output = Buffer.concat(parts)
    const end = output.indexOf('\r\n\r\n')
    const fields = output
      .subarray(0, end)
      .toString('latin1')
      .split('\r\n')
      .map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])
    const status = fields.find(([name]) => name === 'Status')?.[1] ?? '200'
    response.writeHead(Number.parseInt(status, 10), Object.fromEntries(fields))
    response.end(output.subarray(end + 4))
  })
}
