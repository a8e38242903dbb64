import type * as z from 'zod'

/**
 * Who may call an endpoint. `anyone`: no signature. `key`: signed by a key that need not be registered or claimed yet.
 * `run`: an identity, or the key of one of its runs. `agent`: an identity, not the key of a run. `browser`: a person at a
 * browser that is signed in. `principal`: an agent or a browser. `principal or run`: the same, or the key of a run, which gets what is its own. `admin`: the same, of a principal that is one.
 * `principal or suspended`: the same as a principal, and an agent while the store cannot be believed.
 * `operator`: whoever has the secret of the daemon's home, on its machine.
 */
export type Access =
  | 'anyone'
  | 'key'
  | 'key or browser'
  | 'run'
  | 'agent'
  | 'browser'
  | 'principal'
  | 'principal or run'
  | 'principal or suspended'
  | 'admin'
  | 'operator'

/** How often a source may call what is open to who has not said who it is: see the daemon's limits of a source. */
export type SourceLimit = 'registrations' | 'pages' | 'polls' | 'unlocks'

/** One endpoint, without its method and path. */
export interface Endpoint<
  A extends Access = Access,
  Params = z.ZodType | undefined,
  Query = z.ZodType | undefined,
  Body = z.ZodType | undefined,
  Reply extends z.ZodType = z.ZodType,
> {
  readonly access: A
  /** One line for the OpenAPI document. */
  readonly summary: string
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** Form posts are taken too, as objects of text. */
  readonly takesForm?: true
  /** A browser must send its CSRF token although this is a GET, where the query is this. Other methods want it always. */
  readonly csrfWhere?: Readonly<Record<string, string>>
  /** Counted by source: `unlocks` everywhere, the others where the daemon is hosted. */
  readonly perSource?: SourceLimit
  /** Answered while the vault is sealed, too. */
  readonly whileSealed?: true
  /** Programs ask it again and again, whether anybody is there or not. */
  readonly isPolled?: true
  /** Most bytes of a body; 1 MiB where absent. */
  readonly maxBody?: number
  readonly reply: Reply
  /** The connection is switched to this protocol where the client asks for that, and has no other answer then. */
  readonly switchesTo?: string
  /** 200 where absent. */
  readonly status?: number
}
