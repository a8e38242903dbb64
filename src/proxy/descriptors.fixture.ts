/** A proxy in a process that runs out of descriptors: says its port, and obeys `fill` and `free`. Its arguments: the daemon's port, and the password. */
import { closeSync, openSync } from 'node:fs'
import { hostOf } from '../network/index.ts'
import { Secret } from '../protocol/index.ts'
import { startProxy } from './start-proxy.ts'
import { resolution, route } from './test-stage.ts'

const [daemonPort, password = ''] = process.argv.slice(2)
const routes = { routes: [route('api.prov.test')], version: '1' }

const proxy = await startProxy({
  broker: {
    resolve: async () => resolution(),
    routes: async () => routes,
    ship: async () => {},
  },
  routes,
  runId: 'run-1',
  strict: false,
  upstreamCa: [],
  connectTo: [],
  daemonAddresses: [{ host: hostOf('127.0.0.1'), port: Number(daemonPort) }],
  password: new Secret(password),
  log: () => {},
})

const held: number[] = []

process.on('message', (word) => {
  if (word === 'fill') fill()
  else for (const descriptor of held.splice(0)) closeSync(descriptor)
  say('done')
})
process.on('disconnect', () => process.exit())
say(proxy.port)

function say(word: unknown): void {
  process.send?.(word, () => {})
}

function fill(): void {
  try {
    for (;;) held.push(openSync('/dev/null', 'r'))
  } catch {
    // There are none left.
  }
}
