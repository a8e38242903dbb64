/** Names a connection within a vault. */
export interface ConnectionId {
  readonly provider: string
  readonly connection: string
}
