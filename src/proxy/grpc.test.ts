import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { whyNot } from '../../tools/available.ts'
import { grpcOrigin, NODE_CLIENT, PYTHON_CLIENT, SEEN_BY_CLIENTS } from './grpc.fixture.ts'
import { stage } from './test-stage.ts'

/** Real gRPC, with nothing set but the environment of a run: every kind of call, against a real server. */

const PRELOAD = fileURLToPath(new URL('../run/preload.cjs', import.meta.url))

async function assertServed(
  t: TestContext,
  command: string,
  args: readonly string[],
  more: object = {},
): Promise<void> {
  const world = await grpcOrigin(t)
  const { proxy, daemon } = await stage(t, { 'api.prov.test': world.origin })
  const folder = mkdtempSync(join(tmpdir(), 'broker-grpc-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const roots = join(folder, 'ca.pem')
  writeFileSync(roots, proxy.caPem ?? '')
  const url = `http://${proxy.credentials.username}:${proxy.credentials.password.reveal()}@127.0.0.1:${proxy.port}`
  const child = spawn(command, args, {
    env: {
      PATH: process.env['PATH'],
      https_proxy: url,
      HTTPS_PROXY: url,
      GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: roots,
      NODE_EXTRA_CA_CERTS: roots,
      ...more,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  await once(child, 'close')
  assert.deepEqual(JSON.parse(output), SEEN_BY_CLIENTS)
  assert.deepEqual(await world.cancelled(2), ['cancel', 'late'], 'the server hears of calls that are given up')
  await proxy.flush()
  const paths = daemon.events.map(({ event, request }) => `${event} ${request?.path}`)
  assert.ok(paths.includes('proxy.request /test.Echo/Both'), paths.join())
}

describe('gRPC', () => {
  for (const [name, more] of [
    ['with the proxy of its environment', {}],
    ['with the preload of a run', { NODE_OPTIONS: `--require ${PRELOAD}` }],
  ] as const) {
    it(`in Node passes ${name}`, async (t) => {
      const args = ['--input-type=module', '--eval', NODE_CLIENT, '--', import.meta.filename]
      await assertServed(t, process.execPath, args, more)
    })
  }

  it('in Python passes', { skip: whyNot('grpc for python3') }, async (t) => {
    await assertServed(t, '/usr/bin/python3', ['-c', PYTHON_CLIENT])
  })
})
