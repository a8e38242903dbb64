import { mintProof, type SigningKey } from '../identity/index.ts'
import { fromWire, type ResolvedCredential } from '../injection/index.ts'
import { isLoopback, isUnknownAuthority } from '../network/index.ts'
import { BrokerError, type Secret, type SecretInput } from '../protocol/index.ts'
import type {
  Approval,
  Approved,
  AuditPage,
  AuditQuery,
  AuthSession,
  CatalogueChange,
  CatalogueState,
  CheckedAuthSession,
  Connection,
  ConnectionDetail,
  ConnectionList,
  DashboardLink,
  DescribedProvider,
  Explanation,
  Health,
  Identity,
  LoggedOut,
  PasswordReset,
  ProviderList,
  Readiness,
  RegisteredProviders,
  Registration,
  RemovedProvider,
  Resolution,
  ResolveRequest,
  Restored,
  Revoked,
  Routes,
  Run,
  ShippedEvent,
  StartAuthSession,
  StartRun,
  Whoami,
} from '../schemas/index.ts'
import { type DaemonCheck, newChallenge, provenDid } from './daemon-check.ts'
import { errorOf, parseJson } from './error-answer.ts'
import { type Answer, ConnectionFailed, type Outgoing, Transport, type Trust } from './transport.ts'

/** Who signs the requests. */
export interface Signer {
  readonly handle: string
  readonly key: SigningKey
}

export interface DaemonClientOptions {
  /** Origin of the daemon, without a trailing slash; https, or http on loopback. */
  readonly baseUrl: string
  /** Without one only `health` and `prove` can be called. */
  readonly signer?: Signer
  readonly check: DaemonCheck
  /** Whose certificates are taken where the daemon speaks https; Node's own roots alone without it. */
  readonly trust?: () => Promise<Trust>
  /** Hears what a daemon that has proven itself says of itself. */
  readonly onProven?: (health: Health) => void
  /** What the user can do where nothing answers. */
  readonly unreachableHint?: string
  /** Hears of each request that ended, without query, body and headers; `status` 0 where nothing answered. */
  readonly onRequest?: (request: { method: string; path: string; status: number; milliseconds: number }) => void
}

type Json = Readonly<Record<string, unknown>>
type Headers = Readonly<Record<string, string>>
type Repeatable = 'once' | 'repeatable'

const HEALTH_TIMEOUT = 3_000
/** A resolve may wait for the provider to refresh a token. */
const ANSWER_TIMEOUT = 60_000
const NO_BODY = new Uint8Array(0)

/**
 * One daemon, asked over kept connections. Each method is one route of the API and answers what its schema says.
 * @throws BrokerError: what the daemon answered, or DaemonUnavailableError where it cannot be reached or is not the one meant.
 */
export class DaemonClient {
  readonly baseUrl: string
  readonly #options: DaemonClientOptions
  readonly #authority: string
  readonly #transport: Transport
  // Proven as long as no connection has ended since: another program can take the port only after the daemon let go of it.
  #proof: Promise<Health> | undefined
  #routes: { readonly etag: string; readonly table: Routes } | undefined

  constructor(options: DaemonClientOptions) {
    const origin = safeOrigin(options.baseUrl)
    this.baseUrl = origin.origin
    this.#options = options
    this.#authority = origin.host
    const forget = () => {
      this.#proof = undefined
    }
    this.#transport = new Transport(origin, forget, options.trust)
  }

  /** Lets go of every connection. */
  close(): void {
    this.#transport.close()
  }

  /** What anyone may ask; says nothing about who answers. */
  async health(): Promise<Health> {
    const answer = await this.#send({
      method: 'GET',
      path: '/api/health',
      headers: {},
      body: NO_BODY,
      timeout: HEALTH_TIMEOUT,
    })
    return this.#read<Health>(answer)
  }

  /** Health of the daemon that is meant: what answers has proven to be it. */
  prove(): Promise<Health> {
    this.#proof ??= this.#askForProof().catch((error: unknown) => {
      this.#proof = undefined
      throw error
    })
    return this.#proof
  }

  /** Takes the vault as it is, after damage or a restored backup; `bootstrap` says that the owner of the machine does. */
  restoreVault(bootstrap?: Secret): Promise<Restored> {
    const headers: Headers = bootstrap ? { 'x-broker-bootstrap': bootstrap.reveal() } : {}
    return this.#post('/api/vault/restore', {}, { headers })
  }

  ready(): Promise<Readiness> {
    return this.#get('/api/ready')
  }

  whoami(): Promise<Whoami> {
    return this.#get('/api/whoami')
  }

  /** Proves possession of the key being registered; `bootstrap` claims it for the local owner at once. */
  registerIdentity(bootstrap?: Secret): Promise<Registration> {
    const { handle, key } = this.#signer()
    const headers: Headers = bootstrap ? { 'x-broker-bootstrap': bootstrap.reveal() } : {}
    return this.#post('/api/identities/register', { handle, did: key.did }, { headers })
  }

  async identities(): Promise<readonly Identity[]> {
    return (await this.#get<{ identities: Identity[] }>('/api/identities')).identities
  }

  identity(handle: string): Promise<Identity> {
    return this.#get(`/api/identities/${segment(handle)}`)
  }

  async removeIdentity(handle: string): Promise<void> {
    await this.#delete(`/api/identities/${segment(handle)}`)
  }

  startAuthSession(request: StartAuthSession): Promise<AuthSession> {
    return this.#post('/api/auth/sessions', request)
  }

  /** Decides on a key as a login with it would, without storing it. @throws BrokerError as the login does */
  checkAuthSession(request: StartAuthSession, input: SecretInput): Promise<CheckedAuthSession> {
    return this.#post('/api/auth/sessions/check', { ...request, input: revealed(input) })
  }

  authSession(id: string): Promise<AuthSession> {
    return this.#get(`/api/auth/sessions/${segment(id)}`)
  }

  /** An empty input polls a device code. */
  resumeAuthSession(id: string, input: SecretInput): Promise<AuthSession> {
    return this.#post(`/api/auth/sessions/${segment(id)}/resume`, { input: revealed(input) })
  }

  /** Ends a login; how it ended. */
  cancelAuthSession(id: string): Promise<AuthSession> {
    return this.#delete(`/api/auth/sessions/${segment(id)}`)
  }

  async connections(): Promise<readonly Connection[]> {
    return (await this.connectionList()).connections
  }

  /** With what keeps requests from being served. */
  connectionList(): Promise<ConnectionList> {
    return this.#get('/api/connections')
  }

  /** What would become of a request, and why. */
  why(request: Readonly<Record<string, string>>): Promise<Explanation> {
    return this.#get(`/api/why?${new URLSearchParams(request)}`)
  }

  /** What a connection that needs approval could reach with it, and what no more. */
  approval(provider: string, connection: string): Promise<Approval> {
    return this.#get(`${connectionPath(provider, connection)}/approval`)
  }

  /** @param version of the difference that was looked at */
  approve({ provider, connection, version }: Approval): Promise<Approved> {
    return this.#post(`${connectionPath(provider, connection)}/approve`, { version })
  }

  /** Every secret in it is `[redacted]`. */
  connection(provider: string, connection: string): Promise<ConnectionDetail> {
    return this.#get(connectionPath(provider, connection))
  }

  logout(provider: string, connection: string): Promise<LoggedOut> {
    return this.#post(`${connectionPath(provider, connection)}/logout`, {})
  }

  revoke(provider: string): Promise<Revoked> {
    return this.#post(`/api/connections/${segment(provider)}/revoke`, {})
  }

  setDefault(
    provider: string,
    connection: string,
  ): Promise<{ status: 'ok'; provider: string; default_connection: string }> {
    return this.#post(`${connectionPath(provider, connection)}/default`, {})
  }

  /** Whether the stored credential is this one; the daemon compares, nothing stored leaves it. */
  async isSameCredential(provider: string, connection: string, input: SecretInput): Promise<boolean> {
    return (
      await this.#post<{ same: boolean }>(`${connectionPath(provider, connection)}/compare`, { input: revealed(input) })
    ).same
  }

  providers(): Promise<ProviderList> {
    return this.#get('/api/providers')
  }

  /** The same with `keys` of each provider that takes them. */
  providersWithKeys(): Promise<ProviderList> {
    return this.#get('/api/providers?detail=keys')
  }

  provider(name: string): Promise<DescribedProvider> {
    return this.#get(`/api/providers/${segment(name)}`)
  }

  /** `definition` as it came from its file: the daemon checks it. */
  registerProvider(
    definition: unknown,
    force: boolean,
  ): Promise<{ status: 'ok'; provider: string; warnings: readonly string[] }> {
    return this.#post('/api/providers', { definition, force })
  }

  /** All of them or none. */
  registerProviders(definitions: readonly unknown[], force: boolean): Promise<RegisteredProviders> {
    return this.#post('/api/providers/batch', { definitions, force })
  }

  catalogue(): Promise<CatalogueState> {
    return this.#get('/api/catalogue')
  }

  /** @param update `file` and `key` are texts; with `check` nothing is changed */
  updateCatalogue(update: {
    readonly file: string
    readonly key?: string
    readonly check?: boolean
  }): Promise<CatalogueChange> {
    return this.#post('/api/catalogue', update)
  }

  resetCatalogue({ check }: { readonly check: boolean }): Promise<CatalogueChange> {
    return this.#delete(check ? '/api/catalogue?check=true' : '/api/catalogue')
  }

  /** On a host that others have too, where the one is more specific than the other. */
  async registerBeside(definition: unknown): Promise<void> {
    await this.#post('/api/providers', { definition, beside: true })
  }

  /** Where nobody has a connection of it, once nobody logs in there. */
  removeUnusedProvider(name: string): Promise<RemovedProvider> {
    return this.#delete(`/api/providers/${segment(name)}?unused=true`)
  }

  removeProvider(name: string): Promise<RemovedProvider> {
    return this.#delete(`/api/providers/${segment(name)}`)
  }

  /** What the signer may have injected. Asked anew each time, sent only where it changed. */
  async routes(): Promise<Routes> {
    const headers: Headers = this.#routes ? { 'if-none-match': this.#routes.etag } : {}
    const answer = await this.#signed({ method: 'GET', path: '/api/proxy/routes', headers, repeatable: 'repeatable' })
    if (answer.status === 304 && this.#routes) return this.#routes.table
    const table = this.#read<Routes>(answer)
    const { etag } = answer.headers
    this.#routes = etag === undefined ? undefined : { etag, table }
    return table
  }

  /** The credential for one request, fresh. It must be used and let go of. */
  async resolve(request: ResolveRequest): Promise<ResolvedCredential> {
    const path = '/api/credentials/resolve'
    const asked = this.#post<Resolution>(path, { ...request, form: 'places' }, { repeatable: 'repeatable' })
    return fromWire(
      await asked.catch((error: unknown) => {
        throw isUnknownForm(error) ? olderDaemon(error) : error
      }),
    )
  }

  /** Events that were sent before are stored once, so that a batch may be sent again. */
  async ship(events: readonly ShippedEvent[]): Promise<void> {
    await this.#post('/audit/events', { events }, { repeatable: 'repeatable' })
  }

  /** Registers the key of one run, which may then resolve and ship events, and nothing else. */
  startRun(request: StartRun): Promise<Run> {
    return this.#post('/api/runs', request)
  }

  async endRun(runId: string, exitCode: number | undefined): Promise<void> {
    await this.#post(`/api/runs/${segment(runId)}/end`, exitCode === undefined ? {} : { exit_code: exitCode })
  }

  /** A link that signs this principal's browser in: good once, for a minute. */
  createDashboardLink(): Promise<DashboardLink> {
    return this.#post('/api/session', {})
  }

  /** One page, newest first. */
  auditEvents(query: AuditQuery): Promise<AuditPage> {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
    return this.#get(search.size === 0 ? '/api/audit/events' : `/api/audit/events?${search}`)
  }

  /** Gives an account another password. Signed by nobody: `operator` is the secret of the daemon's home. */
  async resetPassword(
    { email, password }: { readonly email: string; readonly password: Secret },
    operator: Secret,
  ): Promise<PasswordReset> {
    await this.prove()
    const body = Buffer.from(JSON.stringify({ email, password: password.reveal() }))
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      'content-length': String(body.length),
      'x-broker-operator': operator.reveal(),
    }
    const path = '/api/admin/reset-password'
    return this.#read(await this.#send({ method: 'POST', path, headers, body, timeout: ANSWER_TIMEOUT }))
  }

  async #get<Result>(path: string): Promise<Result> {
    return this.#read<Result>(await this.#signed({ method: 'GET', path, repeatable: 'repeatable' }))
  }

  async #delete<Result>(path: string): Promise<Result> {
    return this.#read<Result>(await this.#signed({ method: 'DELETE', path }))
  }

  async #post<Result>(
    path: string,
    body: Json,
    options: { readonly headers?: Headers; readonly repeatable?: Repeatable } = {},
  ): Promise<Result> {
    return this.#read<Result>(await this.#signed({ method: 'POST', path, body, ...options }))
  }

  async #signed(call: Call): Promise<Answer> {
    await this.prove()
    try {
      return await this.#send(this.#sign(call))
    } catch (error) {
      if (!isStale(error) || call.repeatable !== 'repeatable') throw error
      await this.prove()
      return this.#send(this.#sign(call))
    }
  }

  // Signed anew for each attempt: the daemon takes a proof once.
  #sign({ method, path, body: json, headers }: Call): Outgoing {
    const { handle, key } = this.#signer()
    const body = json === undefined ? NO_BODY : Buffer.from(JSON.stringify(json))
    const proof = mintProof(key, { handle, method, url: this.baseUrl + path, body })
    const content: Record<string, string> =
      json === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(body.length) }
    return {
      method,
      path,
      headers: { authorization: `PoP ${proof}`, accept: 'application/json', ...content, ...headers },
      body,
      timeout: ANSWER_TIMEOUT,
    }
  }

  #signer(): Signer {
    if (this.#options.signer) return this.#options.signer
    throw new BrokerError('AuthenticationFailedError', 'There is no agent in this home to sign requests', {
      hint: 'Make one with `broker onboard`.',
    })
  }

  async #askForProof(): Promise<Health> {
    const challenge = newChallenge()
    const headers = { 'x-broker-challenge': challenge }
    const question = { method: 'GET', path: '/api/health', headers, body: NO_BODY, timeout: HEALTH_TIMEOUT }
    const answer = await this.#send(question).catch((error: unknown) => {
      throw this.#somethingElse(error) ?? error
    })
    const proof = answer.headers['x-broker-proof']
    const did = provenDid(typeof proof === 'string' ? proof : undefined, challenge, this.#authority)
    if (did === undefined) throw answer.status === 503 ? this.#stopping() : this.#notADaemon()
    this.#options.check(did)
    const health = this.#read<Health>(answer)
    this.#options.onProven?.(health)
    return health
  }

  async #send(outgoing: Outgoing): Promise<Answer> {
    const started = performance.now()
    const report = (status: number) =>
      this.#options.onRequest?.({
        method: outgoing.method,
        path: outgoing.path.split('?', 1)[0] ?? '',
        status,
        milliseconds: performance.now() - started,
      })
    try {
      const answer = await this.#transport.send(outgoing)
      report(answer.status)
      return answer
    } catch (error) {
      report(0)
      throw this.#unreachable(error)
    }
  }

  #read<Result>(answer: Answer): Result {
    if (answer.status < 200 || answer.status > 299) throw errorOf(answer) ?? this.#notADaemon()
    const body = parseJson(answer.text)
    if (body === null || typeof body !== 'object') throw this.#notADaemon()
    return body as Result
  }

  #unreachable(cause: unknown): BrokerError {
    const why = cause instanceof Error ? cause.message : String(cause)
    return new BrokerError('DaemonUnavailableError', `The daemon at ${this.baseUrl} does not answer: ${why}`, {
      cause,
      hint: isUnknownAuthority(cause instanceof ConnectionFailed ? cause.cause : cause)
        ? UNTRUSTED
        : (this.#options.unreachableHint ?? 'Start it with `broker daemon start`.'),
    })
  }

  /** Of what takes connections where no daemon has proven itself, and does not answer as one. */
  #somethingElse(error: unknown): BrokerError | undefined {
    const failed = error instanceof BrokerError ? error.cause : undefined
    const how = failed instanceof ConnectionFailed ? strangeAnswer(failed) : undefined
    if (how === undefined) return undefined
    return new BrokerError(
      'DaemonUnavailableError',
      `Something listens at ${this.baseUrl} and ${how}: it may be another program that holds the port`,
      { cause: failed, hint: this.#options.unreachableHint ?? FREE_THE_PORT },
    )
  }

  /** It proves nothing any more, and is told nothing. */
  #stopping(): BrokerError {
    return new BrokerError('DaemonUnavailableError', `The daemon at ${this.baseUrl} is stopping`, {
      hint: 'Try again in a moment; `broker daemon status` says how it is.',
      retryAfter: 1,
    })
  }

  #notADaemon(): BrokerError {
    return new BrokerError(
      'DaemonUnavailableError',
      `Something else listens at ${this.baseUrl}: it does not prove to be a broker daemon; nothing was sent to it`,
      { hint: FREE_THE_PORT },
    )
  }
}

const FREE_THE_PORT = 'Free the port or set BROKER_PORT to another, then `broker daemon start`.'

function strangeAnswer({ message, cause }: ConnectionFailed): string | undefined {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (/^HPE_|^EPROTO$|^ERR_SSL_/.test(code)) return 'does not speak as the daemon does'
  if (['ECONNRESET', 'EPIPE'].includes(code)) return 'closes the connection without an answer'
  return message.startsWith('no answer within') ? `gives ${message}` : undefined
}

interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: Json
  readonly headers?: Headers
  readonly repeatable?: Repeatable
}

/** Whether the call failed because nothing at all listens at the daemon's address. */
export function isNothingListening(error: unknown): boolean {
  const failure =
    error instanceof BrokerError && error.cause instanceof ConnectionFailed ? error.cause.cause : undefined
  return failure instanceof Error && 'code' in failure && failure.code === 'ECONNREFUSED'
}

function isStale(error: unknown): boolean {
  return error instanceof BrokerError && error.cause instanceof ConnectionFailed && error.cause.stale
}

const UNTRUSTED =
  "Its certificate is of an authority that is not trusted here: add that to the system's store, or set SSL_CERT_FILE to its PEM file."

/** Whether it is the form of the answer that a daemon of before does not know. */
function isUnknownForm(error: unknown): boolean {
  return error instanceof BrokerError && error.options.details?.some(({ path }) => path === 'form') === true
}

function olderDaemon(cause: unknown): BrokerError {
  return new BrokerError('DaemonUnavailableError', 'The daemon is older than this command and does not understand it', {
    hint: 'Restart it: broker daemon restart',
    cause,
  })
}

function safeOrigin(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
  if (url && isSafe && !url.username && !url.password) return url
  throw new BrokerError('InvalidRequestError', 'The address of the daemon must be https, or http on loopback')
}

function revealed(input: SecretInput): Record<string, string> {
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, value.reveal()]))
}

function connectionPath(provider: string, connection: string): string {
  return `/api/connections/${segment(provider)}/${segment(connection)}`
}

function segment(text: string): string {
  return encodeURIComponent(text)
}
