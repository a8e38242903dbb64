/**
 * Named credential records of a vault: what may be listed of them, their default, redaction, and the one place that
 * opens them for use. Every act on one is audited here. Must never ask a provider anything.
 */
export type { ConnectionId } from './connection-id.ts'
export {
  type Connections,
  type NewConnection,
  openConnections,
  type UsableConnection,
} from './open-connections.ts'
export { type DefinitionsOptions, registerDefinition, removeDefinition } from './provider-definitions.ts'
export { connectionExists } from './refusals.ts'
