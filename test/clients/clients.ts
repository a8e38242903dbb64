import { agentClients } from './agent-clients.ts'
import type { Client } from './client.ts'
import { commandClients } from './command-clients.ts'
import { nodeClients } from './node-clients.ts'
import { pythonClients } from './python-clients.ts'

/** Every row. */
export const clients: readonly Client[] = [...nodeClients, ...pythonClients, ...commandClients, ...agentClients]

/** As the table and the tests call it. */
export function titleOf({ name, runtime }: Client): string {
  return runtime === '' ? name : `${name} (${runtime})`
}
