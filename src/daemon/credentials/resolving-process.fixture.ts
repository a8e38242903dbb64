/** One of several daemons on one store, as far as resolving goes: resolves many times at once when it is told to. */
import { toPlainWire } from '../../injection/index.ts'
import { openRooms } from '../connections/rooms.fixture.ts'
import { openFlows } from '../flows/index.ts'
import { openCredentials } from './open-credentials.ts'

const [folder = '', id = ''] = process.argv.slice(2)
let now = Date.now()
const clock = () => now
const rooms = await openRooms({ folder, now: clock, process: id, alone: false })
const flows = openFlows({ hosted: false, version: '0', now: clock })
const credentials = openCredentials({ ...rooms, flows, onFailure: () => undefined, now: clock })

process.on('message', async (order: { readonly now: number; readonly count: number }) => {
  now = order.now
  const asked = Array.from({ length: order.count }, () =>
    credentials.resolve(rooms.actor, { host: 'api.acme.example' }).then(
      (resolved) => toPlainWire(resolved).headers['Authorization'] ?? '',
      (error: unknown) => String(error),
    ),
  )
  process.send?.([...new Set(await Promise.all(asked))])
})
process.send?.('ready')
