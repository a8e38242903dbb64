import type * as z from 'zod'
import type { Proof } from '../../identity/index.ts'
import type { Actor, BrowserActor, Secret } from '../../protocol/index.ts'
import { type Access, type Contract, contract, type Endpoint, type EndpointKey } from '../../schemas/index.ts'
import type { Caller } from '../accounts/index.ts'
import type { Suspended } from '../principals/index.ts'

/** What the handler of a route gets: parsed input, and of the caller what its access promises. */
interface Call<Params, Query, Body, Who> {
  readonly who: Who
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** base64url SHA-256 of the raw body. */
  readonly bodySha256: string
  readonly headers: CallHeaders
}

/** The only headers a handler ever sees. */
export interface CallHeaders {
  readonly host: string
  readonly ifNoneMatch?: string
  readonly bootstrap?: Secret
  /** Where it came from this machine. */
  readonly operator?: Secret
  readonly challenge?: string
  readonly wantsHtml: boolean
  readonly isForm: boolean
  readonly csrf?: string
  /** Who calls by a browser, with its session, whoever may call the route. */
  readonly caller: Caller
  /** Whether a page of another site, or a mail, had the browser come here. */
  readonly isFromElsewhere: boolean
  /** Of the body encodings that the daemon has files in. */
  readonly takesBrotli: boolean
}

type WhoOf<A extends Access> = A extends 'anyone' | 'operator'
  ? undefined
  : A extends 'key'
    ? Proof
    : A extends 'browser'
      ? BrowserActor
      : A extends 'key or browser'
        ? Proof | BrowserActor
        : A extends 'principal or suspended'
          ? Actor | Suspended
          : Actor

/** A JSON answer, checked against the route's schema before it leaves. */
export interface Reply<Body> {
  readonly status?: number
  readonly body: Body
  readonly headers?: AnswerHeaders
}

/** A list is a header for each. */
type AnswerHeaders = Readonly<Record<string, string | string[]>>

/** An answer that is made while it is sent, no faster than it is read; it may have no end of its own. */
export interface StreamReply {
  readonly headers: AnswerHeaders
  /** @param gone fires where the caller is, or the daemon stops: nobody takes another chunk then */
  readonly chunks: (gone: AbortSignal) => AsyncIterable<string>
}

/** Any answer. */
export type AnyReply<Body = unknown> = Reply<Body> | RawReply | StreamReply

/** An answer that is no JSON of ours: a page, a script, a file, or nothing (304). */
export interface RawReply {
  readonly status?: number
  readonly raw: string | Uint8Array<ArrayBuffer> | null
  readonly headers: AnswerHeaders
}

type Schema = z.ZodType
type Parsed<S> = S extends Schema ? z.infer<S> : undefined

/** An endpoint with its method and path, as the pages have it; those of the API stand in the contract. */
export interface RouteSpec<A extends Access, P, Q, B, R extends Schema> extends Endpoint<A, P, Q, B, R> {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Parameters in braces: `/api/providers/{provider}`. */
  readonly path: string
  /** Answers people: its errors are pages too, unless JSON is asked for. */
  readonly isPage?: true
  /** Pages of other sites send browsers here. */
  readonly isReturn?: true
  /** It does something although it is a GET: HEAD, which looks whether a link is there, is refused. */
  readonly actsOnGet?: true
  /** The page that posts here has a token of its own kind in its form, which the handler checks. */
  readonly checksCsrf?: true
  readonly handle: Handler<A, P, Q, B, R>
}

type Handler<A extends Access, P, Q, B, R extends Schema> = (
  call: Call<Parsed<P>, Parsed<Q>, Parsed<B>, WhoOf<A>>,
) => Promise<AnyReply<z.input<R>>> | AnyReply<z.input<R>>

/** A route as the server sees it: the types of its input were its own business. */
export interface Route extends Omit<RouteSpec<Access, Schema, Schema, Schema, Schema>, 'handle'> {
  readonly handle: (call: Call<unknown, unknown, unknown, unknown>) => Promise<AnyReply>
}

/** Ties the schemas of a route to the types its handler gets. */
export function route<A extends Access, P, Q, B, R extends Schema>(spec: RouteSpec<A, P, Q, B, R>): Route {
  // The server parses with these very schemas and authenticates by this access before it calls the handler.
  return spec as unknown as Route
}

type SchemaAt<E, Name extends string> = E extends Readonly<Record<Name, infer S>> ? S : undefined
type HandlerOf<E extends Endpoint> = Handler<
  E['access'],
  SchemaAt<E, 'params'>,
  SchemaAt<E, 'query'>,
  SchemaAt<E, 'body'>,
  E['reply']
>

/** What answers each endpoint of the contract: one that is missing, or answers something else, does not compile. */
export type Handlers = { readonly [K in EndpointKey]: HandlerOf<Contract[K]> }

/** Gives the routes of the contract with what answers them. */
export function routesOf(handlers: Handlers): readonly Route[] {
  return Object.entries<Endpoint>(contract).map(([key, endpoint]) => {
    const [method, path] = key.split(' ')
    return { method, path, ...endpoint, handle: handlers[key as EndpointKey] } as unknown as Route
  })
}
