import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ProxyReady } from './at-hand-proxy.ts'
import { pathOf, startServer } from './child-process.ts'
import type { MockttpOptions } from './mockttp-proxy.ts'
import { freePort, HOST, KEY, type World } from './world.ts'

/** Another proxy that injects the same header; `proxy` is absent where it is not installed. */
export interface Rival {
  readonly name: string
  readonly proxy?: { readonly ready: ProxyReady; stop(): Promise<void> }
}

const START_LIMIT_MS = 30_000

/** `mitmdump` with a three-line addon, where it is on the PATH. */
export async function startMitmproxy({ folder, upstream }: World): Promise<Rival> {
  const version = /Mitmproxy: (\S+)/.exec(spawnSync('mitmdump', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1]
  if (version === undefined) return { name: 'mitmproxy' }
  const port = await freePort()
  const child = spawn('mitmdump', mitmproxyArguments(folder, port), {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, BENCH_UPSTREAM_PORT: String(upstream.port), BENCH_KEY: KEY },
  })
  const caFile = join(folder, 'mitmproxy', 'mitmproxy-ca-cert.pem')
  await untilListening(port, caFile)
  const ready = { proxyUrl: `http://127.0.0.1:${port}`, caPem: readFileSync(caFile, 'utf8') }
  const stop = async () => {
    const exit = once(child, 'exit')
    child.kill()
    await exit
  }
  return { name: `mitmproxy ${version}`, proxy: { ready, stop } }
}

function mitmproxyArguments(folder: string, port: number): readonly string[] {
  const settings = {
    confdir: join(folder, 'mitmproxy'),
    ssl_verify_upstream_trusted_ca: join(folder, 'upstream-ca.pem'),
    connection_strategy: 'lazy',
    // As quick as it can be: without HTTP/2, and without keeping bodies.
    http2: 'false',
    stream_large_bodies: '1',
    listen_host: '127.0.0.1',
    listen_port: String(port),
  }
  const set = Object.entries(settings).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  return ['--quiet', '--scripts', pathOf('./mitmproxy-addon.py'), ...set]
}

async function untilListening(port: number, caFile: string): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS
  while (!(existsSync(caFile) && (await accepts(port)))) {
    if (performance.now() > deadline) throw new Error('mitmproxy did not start')
    await delay(100)
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

/** mockttp with one pass-through rule, where Node finds it from here or by NODE_PATH. */
export async function startMockttp({ upstream }: World): Promise<Rival> {
  const version = mockttpVersion()
  if (version === undefined) return { name: 'mockttp' }
  const options: MockttpOptions = { host: HOST, key: KEY, upstreamPort: upstream.port, upstreamCa: upstream.caPem }
  return { name: `mockttp ${version}`, proxy: await startServer<ProxyReady>('./mockttp-proxy.ts', options) }
}

function mockttpVersion(): string | undefined {
  try {
    // Its package.json is not among what it exports.
    const main = createRequire(import.meta.url).resolve('mockttp')
    const folder = main.slice(0, main.lastIndexOf('mockttp') + 'mockttp'.length)
    return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version
  } catch {
    return undefined
  }
}
