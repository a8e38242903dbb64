/** Ships batches of 1,000 events to a daemon, from many senders at once, until the process that started it lets go. */
import { announce, startOptions } from './child-process.ts'
import { clientOf } from './daemon-client.ts'
import { shippedEvent } from './shipped-event.ts'

export interface NeighbourOptions {
  /** Of the identity that signs, and where its daemon listens. */
  readonly home: string
  readonly port: string
  readonly senders: number
}

const { home, port, senders } = startOptions<NeighbourOptions>()
const client = clientOf({ BROKER_HOME: home, BROKER_PORT: port })
announce({})
await Promise.all(Array.from({ length: senders }, send))

async function send(): Promise<never> {
  for (;;) {
    // Told to come again, it does.
    await client.ship(Array.from({ length: 1_000 }, shippedEvent)).catch(() => undefined)
  }
}
