import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathOf, run, startServer } from './child-process.ts'
import type { UpstreamOptions, UpstreamReady } from './upstream.ts'

export const HOST = 'api.bench.example'
/** Served by the same upstream, but no provider's: tunnelled untouched. */
export const UNROUTED_HOST = 'plain.bench.example'
export const KEY = `bench-CNRY-${'k'.repeat(32)}`
export const PLACEHOLDER = 'broker-proxy-managed'
export const BROKER = new URL('../bin/broker', import.meta.url).pathname

/** A throw-away home with a running daemon and one connection, and a TLS service for it to reach. */
export interface World {
  readonly folder: string
  readonly upstream: UpstreamReady
  readonly connectTo: string
  readonly env: NodeJS.ProcessEnv
  close(): Promise<void>
}

export async function makeWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'broker-bench-'))
  const hosts = [HOST, UNROUTED_HOST]
  // Some rivals can only be sent elsewhere under a name that needs no DNS.
  const upstream = await startServer<UpstreamReady>('./upstream.ts', {
    hosts: [...hosts, 'localhost'],
    key: KEY,
  } satisfies UpstreamOptions)
  const connectTo = hosts.map((host) => `${host}:443:127.0.0.1:${upstream.ready.port}`).join()
  const caFile = join(folder, 'upstream-ca.pem')
  writeFileSync(caFile, upstream.ready.caPem)
  const env = {
    ...(await homeEnvironment(join(folder, 'home'))),
    BROKER_PROXY_CA_FILE: caFile,
    BROKER_PROXY_CONNECT_TO: connectTo,
  }
  const close = async () => {
    await runBroker(env, ['daemon', 'stop'])
    await upstream.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await runBroker(env, ['onboard', '--json'])
    await runBroker(env, ['provider', 'register', definitionFile(folder), '--yes'])
    await runBroker(env, ['login', 'bench'], `${KEY}\n`)
  } catch (error) {
    await close()
    throw error
  }
  return { folder, upstream: upstream.ready, connectTo, env, close }
}

/** The environment of a home of its own, with a free port for its daemon, and nothing of the user's. */
export async function homeEnvironment(home: string): Promise<NodeJS.ProcessEnv> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^BROKER_|_proxy$/i.test(name))
  return {
    ...Object.fromEntries(inherited),
    BROKER_HOME: home,
    BROKER_PORT: String(await freePort()),
    BROKER_ENCRYPTION_MODE: 'local_key',
  }
}

export function runBroker(env: NodeJS.ProcessEnv, args: readonly string[], input = ''): Promise<string> {
  return run({ file: BROKER, args, env, input })
}

/** Runs a module of this folder as the child of `broker run`, with the plan in `file`, and reads what it found. */
export async function behindBroker<Found>({ env }: World, module: string, file: string): Promise<Found> {
  return JSON.parse(
    await run({
      file: BROKER,
      args: ['--quiet', 'run', '--', process.execPath, pathOf(module), file],
      env,
      progress: 'shown',
    }),
  ) as Found
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/** Writes the definition of the service that everything is measured by, and returns the file. */
export function definitionFile(folder: string): string {
  const file = join(folder, 'bench.json')
  const definition = {
    schema_version: 1,
    name: 'bench',
    display_name: 'Bench',
    auth_type: 'api_key',
    flow: 'api_key',
    hosts: [HOST],
    env: { BENCH_API_KEY: 'credential' },
    api_key: { header_name: 'Authorization', prefix: 'Bearer' },
  }
  writeFileSync(file, JSON.stringify(definition))
  return file
}
