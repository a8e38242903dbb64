import type { Actor, FlowName } from '../../protocol/index.ts'
import type { KeySection, Provider } from '../providers/index.ts'

/** One login as it was asked for. */
export interface LoginRequest {
  readonly actor: Actor
  readonly provider: Provider
  readonly flow: FlowName
  /** The tenant's own URL. */
  readonly baseUrl?: string
  /** Of a login by key: which section of the definition it is about. */
  readonly section: KeySection
  /** In place of the definition's. */
  readonly scopes?: readonly string[]
  /** Which client of an earlier login is not used again: one that the server made for us, or the user's own app too. */
  readonly anew: 'nothing' | 'registration' | 'client'
}
