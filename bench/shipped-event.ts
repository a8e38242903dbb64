import { randomBytes } from 'node:crypto'
import type { ShippedEvent } from '../src/schemas/index.ts'
import { HOST } from './world.ts'

/** An event as a proxy ships it, which no other is. */
export function shippedEvent(): ShippedEvent {
  return {
    id: randomBytes(9).toString('base64url'),
    event: 'proxy.request',
    provider: 'bench',
    connection: 'default',
    status: 'success',
    request: {
      method: 'GET',
      host: HOST,
      port: 443,
      path: '/small',
      status: 200,
      duration_ms: 3,
      bytes_in: 0,
      bytes_out: 9,
    },
  }
}
