import { mintProof, type SigningKey } from '../identity/index.ts'
import { fromWire, type ResolvedCredential } from '../injection/index.ts'
import { isLoopback, isUnknownAuthority } from '../network/index.ts'
import {
  BrokerError,
  CHANNEL_PROTOCOL,
  type EncryptionSource,
  type Secret,
  type SecretInput,
} from '../protocol/index.ts'
import type {
  AnswerOf,
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
  EndpointKey,
  Explanation,
  Health,
  Identity,
  LogExamination,
  LoggedOut,
  PasswordReset,
  ProviderList,
  Readiness,
  RegisteredProviders,
  Registration,
  Rekeyed,
  RemovedProvider,
  RequestOf,
  ResolveRequest,
  Restored,
  Revoked,
  Rotated,
  Routes,
  Run,
  ShippedEvent,
  StartAuthSession,
  StartRun,
  VaultState,
  Whoami,
} from '../schemas/index.ts'
import { DaemonChannel, NoChannel } from './daemon-channel.ts'
import { type DaemonCheck, newChallenge, provenDid } from './daemon-check.ts'
import { type TargetParts, targetOf } from './endpoint-target.ts'
import { errorOf, parseJson } from './error-answer.ts'
import { type Answer, ConnectionFailed, type Outgoing, type Switched, Transport, type Trust } from './transport.ts'

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
  /**
   * Socket of the run that this is called in: what answers there signs as the run, and is known by where it is. Nothing is signed here then.
   */
  readonly runSocket?: string
  /** Whose certificates are taken where the daemon speaks https; Node's own roots alone without it. */
  readonly trust?: () => Promise<Trust>
  /** Hears what a daemon that has proven itself says of itself. */
  readonly onProven?: (health: Health) => void
  /** Whether the home's own daemon has written down that it cannot open what it proves itself by. */
  readonly isSealed?: () => boolean
  /** What the user can do where nothing answers. */
  readonly unreachableHint?: string
  /** Hears of each request that ended, without query, body and headers; `status` 0 where nothing answered. */
  readonly onRequest?: (request: { method: string; path: string; status: number; milliseconds: number }) => void
}

/** Where the master key is to be, and what the daemon does not have of it. */
export interface KeyToTake {
  readonly to: EncryptionSource
  readonly passphrase?: Secret
  readonly masterKey?: Secret
}

type Headers = Readonly<Record<string, string>>

const HEALTH_TIMEOUT = 3_000
/** A resolve may wait for the provider to refresh a token. */
const ANSWER_TIMEOUT = 60_000
/** Of the end of a run: its command has ended, and whoever waits for it waits for a daemon that is stuck as well. */
const END_TIMEOUT = 5_000
/** A daemon of before, or a reverse proxy that passes no upgrade on. */
const KNOWS_NO_CHANNEL: ReadonlySet<number> = new Set([400, 404, 405, 426, 501])
const NO_BODY = new Uint8Array(0)
const HEALTH = targetOf('GET /api/health' satisfies EndpointKey, {})

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
    this.#transport = new Transport(origin, forget, { trust: options.trust, socketPath: options.runSocket })
  }

  /** Lets go of every connection. */
  close(): void {
    this.#transport.close()
  }

  /** Returns what anyone may ask; says nothing about who answers. */
  async health(): Promise<Health> {
    const answer = await this.#send({ ...HEALTH, headers: {}, body: NO_BODY, timeout: HEALTH_TIMEOUT })
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
    return this.#call('POST /api/vault/restore', {}, { headers: bootstrapHeaders(bootstrap) })
  }

  vaultStatus(): Promise<VaultState> {
    return this.#call('GET /api/vault/status')
  }

  rotateVault(): Promise<Rotated> {
    return this.#call('POST /api/vault/rotate')
  }

  rekeyVault({ to, passphrase, masterKey }: KeyToTake): Promise<Rekeyed> {
    return this.#call('POST /api/vault/rekey', {
      body: {
        to,
        ...(passphrase && { passphrase: passphrase.reveal() }),
        ...(masterKey && { master_key: masterKey.reveal() }),
      },
    })
  }

  lockVault(): Promise<VaultState> {
    return this.#call('POST /api/vault/lock')
  }

  /** Opens the vault of the daemon. Signed by nobody: the passphrase is the proof, or the secret of the daemon's home. */
  async unlockVault(given: { readonly passphrase?: Secret; readonly operator: Secret | undefined }): Promise<void> {
    await this.prove().catch((error: unknown) => {
      // On Postgres, what it would prove itself by is in the vault. This home says that it is sealed, or TLS whose it is.
      if (this.#options.isSealed?.() !== true && !this.baseUrl.startsWith('https:')) throw error
    })
    const { headers, body } = contentOf(given.passphrase ? { passphrase: given.passphrase.reveal() } : {})
    const target = targetOf('POST /api/vault/unlock' satisfies EndpointKey, {})
    const withOperator = { ...headers, ...(given.operator && { 'x-broker-operator': given.operator.reveal() }) }
    this.#read(await this.#send({ ...target, headers: withOperator, body, timeout: ANSWER_TIMEOUT }))
  }

  ready(): Promise<Readiness> {
    return this.#call('GET /api/ready')
  }

  whoami(): Promise<Whoami> {
    return this.#call('GET /api/whoami')
  }

  /** Proves possession of the key being registered; `bootstrap` claims it for the local owner at once. */
  registerIdentity(bootstrap?: Secret): Promise<Registration> {
    const { handle, key } = this.#signer()
    const headers = bootstrapHeaders(bootstrap)
    return this.#call('POST /api/identities/register', { body: { handle, did: key.did } }, { headers })
  }

  async identities(): Promise<readonly Identity[]> {
    return (await this.#call('GET /api/identities')).identities
  }

  identity(handle: string): Promise<Identity> {
    return this.#call('GET /api/identities/{handle}', { params: { handle } })
  }

  async removeIdentity(handle: string): Promise<void> {
    await this.#call('DELETE /api/identities/{handle}', { params: { handle } })
  }

  startAuthSession(request: StartAuthSession): Promise<AuthSession> {
    return this.#call('POST /api/auth/sessions', { body: request })
  }

  /** Decides on a key as a login with it would, without storing it. @throws BrokerError as the login does */
  checkAuthSession(request: StartAuthSession, input: SecretInput): Promise<CheckedAuthSession> {
    return this.#call('POST /api/auth/sessions/check', { body: { ...request, input: revealed(input) } })
  }

  authSession(id: string): Promise<AuthSession> {
    return this.#call('GET /api/auth/sessions/{session_id}', { params: { session_id: id } })
  }

  /** An empty input polls a device code. */
  resumeAuthSession(id: string, input: SecretInput): Promise<AuthSession> {
    return this.#call('POST /api/auth/sessions/{session_id}/resume', {
      params: { session_id: id },
      body: { input: revealed(input) },
    })
  }

  /** Ends a login; how it ended. */
  cancelAuthSession(id: string): Promise<AuthSession> {
    return this.#call('DELETE /api/auth/sessions/{session_id}', { params: { session_id: id } })
  }

  async connections(): Promise<readonly Connection[]> {
    return (await this.connectionList()).connections
  }

  /** With what keeps requests from being served. */
  connectionList(): Promise<ConnectionList> {
    return this.#call('GET /api/connections')
  }

  /** Returns what would become of a request, and why. */
  why(request: Readonly<Record<string, string>>): Promise<Explanation> {
    return this.#call('GET /api/why', { query: request })
  }

  /** Returns what a connection that needs approval could reach with it, and what no more. */
  approval(provider: string, connection: string): Promise<Approval> {
    return this.#call('GET /api/connections/{provider}/{connection}/approval', { params: { provider, connection } })
  }

  /** @param version of the difference that was looked at */
  approve({ provider, connection, version }: Approval): Promise<Approved> {
    return this.#call('POST /api/connections/{provider}/{connection}/approve', {
      params: { provider, connection },
      body: { version },
    })
  }

  /** Every secret in it is `[redacted]`. */
  connection(provider: string, connection: string): Promise<ConnectionDetail> {
    return this.#call('GET /api/connections/{provider}/{connection}', { params: { provider, connection } })
  }

  logout(provider: string, connection: string): Promise<LoggedOut> {
    return this.#call('POST /api/connections/{provider}/{connection}/logout', { params: { provider, connection } })
  }

  revoke(provider: string): Promise<Revoked> {
    return this.#call('POST /api/connections/{provider}/revoke', { params: { provider } })
  }

  setDefault(
    provider: string,
    connection: string,
  ): Promise<{ status: 'ok'; provider: string; default_connection: string }> {
    return this.#call('POST /api/connections/{provider}/{connection}/default', { params: { provider, connection } })
  }

  /** Returns whether the stored credential is this one; the daemon compares, nothing stored leaves it. */
  async isSameCredential(provider: string, connection: string, input: SecretInput): Promise<boolean> {
    const key = 'POST /api/connections/{provider}/{connection}/compare'
    return (await this.#call(key, { params: { provider, connection }, body: { input: revealed(input) } })).same
  }

  providers(): Promise<ProviderList> {
    return this.#call('GET /api/providers')
  }

  /** The same with `keys` of each provider that takes them. */
  providersWithKeys(): Promise<ProviderList> {
    return this.#call('GET /api/providers', { query: { detail: 'keys' } })
  }

  provider(name: string): Promise<DescribedProvider> {
    return this.#call('GET /api/providers/{provider}', { params: { provider: name } })
  }

  /** `definition` as it came from its file: the daemon checks it. */
  registerProvider(
    definition: unknown,
    force: boolean,
  ): Promise<{ status: 'ok'; provider: string; warnings: readonly string[] }> {
    return this.#call('POST /api/providers', { body: { definition: definition as DefinitionToRegister, force } })
  }

  /** All of them or none. */
  registerProviders(definitions: readonly unknown[], force: boolean): Promise<RegisteredProviders> {
    return this.#call('POST /api/providers/batch', { body: { definitions: [...definitions], force } })
  }

  catalogue(): Promise<CatalogueState> {
    return this.#call('GET /api/catalogue')
  }

  /** @param update `file` and `key` are texts; with `check` nothing is changed */
  updateCatalogue(update: {
    readonly file: string
    readonly key?: string
    readonly check?: boolean
  }): Promise<CatalogueChange> {
    return this.#call('POST /api/catalogue', { body: update })
  }

  resetCatalogue({ check }: { readonly check: boolean }): Promise<CatalogueChange> {
    return this.#call('DELETE /api/catalogue', check ? { query: { check: 'true' } } : {})
  }

  /** On a host that others have too, where the one is more specific than the other. */
  async registerBeside(definition: unknown): Promise<void> {
    await this.#call('POST /api/providers', { body: { definition: definition as DefinitionToRegister, beside: true } })
  }

  /** Host patterns for which the signer could have something injected, were it connected. */
  async routableHosts(): Promise<readonly string[]> {
    const { routes } = await this.#call('GET /api/proxy/routes', { query: { scope: 'all' } })
    return [...new Set(routes.map(({ host }) => host))]
  }

  /** Removes it where nobody has a connection of it, once nobody logs in there. */
  removeUnusedProvider(name: string): Promise<RemovedProvider> {
    return this.#call('DELETE /api/providers/{provider}', { params: { provider: name }, query: { unused: 'true' } })
  }

  removeProvider(name: string): Promise<RemovedProvider> {
    return this.#call('DELETE /api/providers/{provider}', { params: { provider: name } })
  }

  /** Returns what the signer may have injected. Asked anew each time, sent only where it changed. */
  async routes(): Promise<Routes> {
    const headers: Headers = this.#routes ? { 'if-none-match': this.#routes.etag } : {}
    const answer = await this.#signed(callOf('GET /api/proxy/routes', {}, { headers }))
    if (answer.status === 304 && this.#routes) return this.#routes.table
    const table = this.#read<Routes>(answer)
    const { etag } = answer.headers
    this.#routes = etag === undefined ? undefined : { etag, table }
    return table
  }

  /** The credential for one request, fresh. It must be used and let go of. */
  async resolve(request: ResolveRequest): Promise<ResolvedCredential> {
    const body = { ...request, form: 'places' as const }
    const asked = this.#call('POST /api/credentials/resolve', { body }, { isRepeatable: true })
    return fromWire(
      await asked.catch((error: unknown) => {
        throw isUnknownForm(error) ? olderDaemon(error) : error
      }),
    )
  }

  /** Events that were sent before are stored once, so that a batch may be sent again. */
  async ship(events: readonly ShippedEvent[]): Promise<void> {
    await this.#call('POST /audit/events', { body: { events: [...events] } }, { isRepeatable: true })
  }

  /** Registers the key of one run, which may then resolve and ship events, and nothing else. */
  startRun(request: StartRun): Promise<Run> {
    return this.#call('POST /api/runs', { body: request })
  }

  /** The channel of the run that signs; it is opened when it is first asked for something. */
  channel(runId: string, onChanged: () => void): DaemonChannel {
    return new DaemonChannel({ open: () => this.#switchToChannel(runId), without: this, onChanged })
  }

  async #switchToChannel(runId: string): Promise<Switched> {
    await this.prove()
    const call = callOf('GET /api/runs/{run_id}/channel', { params: { run_id: runId } })
    const answer = await this.#transport.switchTo(CHANNEL_PROTOCOL, this.#sign(call)).catch((error: unknown) => {
      throw this.#unreachable(error)
    })
    if ('socket' in answer) return answer
    throw KNOWS_NO_CHANNEL.has(answer.status) ? new NoChannel() : (errorOf(answer) ?? this.#notADaemon())
  }

  async endRun(runId: string, exitCode: number | undefined): Promise<void> {
    const body = exitCode === undefined ? {} : { exit_code: exitCode }
    await this.#call('POST /api/runs/{run_id}/end', { params: { run_id: runId }, body }, { timeout: END_TIMEOUT })
  }

  /** What the daemon answers to a GET of somebody whom the signer answers for: whatever it is. */
  async passOn(path: string): Promise<Answer> {
    return await this.#signed({ method: 'GET', path, isRepeatable: true, timeout: ANSWER_TIMEOUT })
  }

  /** A link that signs this principal's browser in: good once, for a minute. */
  createDashboardLink(): Promise<DashboardLink> {
    return this.#call('POST /api/session')
  }

  /** One page, newest first. */
  auditEvents(query: AuditQuery): Promise<AuditPage> {
    return this.#call('GET /api/audit/events', { query })
  }

  /**
   * Has the daemon look through the whole log, or through what came since an ISO time.
   * @param onProgress told how many of how many events were looked at
   */
  async verifyAudit(
    since: string | undefined,
    onProgress: (checked: number, of: number) => void,
  ): Promise<LogExamination> {
    await this.prove()
    const call = callOf('GET /api/audit/verify', since === undefined ? {} : { query: { since } })
    const onText = (part: string) => {
      const [, checked, of] = /"checked":(\d+),"of":(\d+)/.exec(part) ?? []
      if (checked !== undefined) onProgress(Number(checked), Number(of))
    }
    const answer = await this.#send({ ...this.#sign(call), onText })
    const failure = errorOf(answer)
    if (failure) throw failure
    // The last line: the daemon has checked it.
    return JSON.parse(answer.text.trim().split('\n').at(-1) ?? '') as LogExamination
  }

  /** Gives an account another password. Signed by nobody: `operator` is the secret of the daemon's home. */
  async resetPassword(
    { email, password }: { readonly email: string; readonly password: Secret },
    operator: Secret,
  ): Promise<PasswordReset> {
    await this.prove()
    const { headers, body } = contentOf({ email, password: password.reveal() })
    const target = targetOf('POST /api/admin/reset-password' satisfies EndpointKey, {})
    const signedByNobody = { ...headers, 'x-broker-operator': operator.reveal() }
    return this.#read(await this.#send({ ...target, headers: signedByNobody, body, timeout: ANSWER_TIMEOUT }))
  }

  /** Asks one endpoint, and gives what its schema says: the daemon checks it before it leaves. */
  async #call<K extends EndpointKey>(key: K, ...[request, options]: CallArguments<K>): Promise<AnswerOf<K>> {
    return this.#read<AnswerOf<K>>(await this.#signed(callOf(key, request, options)))
  }

  async #signed(call: Call): Promise<Answer> {
    await this.prove()
    try {
      return await this.#send(this.#sign(call))
    } catch (error) {
      if (!isStale(error) || !call.isRepeatable) throw error
      await this.prove()
      return this.#send(this.#sign(call))
    }
  }

  // Signed anew for each attempt: the daemon takes a proof once.
  #sign({ method, path, body: json, headers, timeout }: Call): Outgoing {
    const { headers: content, body } = contentOf(json)
    if (this.#options.runSocket !== undefined) {
      return { method, path, headers: { ...content, ...headers }, body, timeout }
    }
    const { handle, key } = this.#signer()
    const proof = mintProof(key, { handle, method, url: this.baseUrl + path, body })
    return {
      method,
      path,
      headers: { authorization: `PoP ${proof}`, ...content, ...headers },
      body,
      timeout,
    }
  }

  #signer(): Signer {
    if (this.#options.signer) return this.#options.signer
    throw new BrokerError('AuthenticationFailedError', 'There is no agent in this home to sign requests', {
      hint: 'Make one with `broker onboard`.',
    })
  }

  async #askForProof(): Promise<Health> {
    if (this.#options.runSocket !== undefined) return await this.health()
    const challenge = newChallenge()
    const headers = { 'x-broker-challenge': challenge }
    const question = { ...HEALTH, headers, body: NO_BODY, timeout: HEALTH_TIMEOUT }
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
    if (this.#options.isSealed?.()) {
      return new BrokerError('DaemonUnavailableError', `The daemon at ${this.baseUrl} cannot open its vault`, {
        hint: '`broker daemon logs` says why; once that is mended: broker unlock, or broker daemon restart',
        retryAfter: 1,
      })
    }
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
  readonly method: string
  readonly path: string
  readonly body?: object
  readonly headers?: Headers
  /** Sent again where a kept connection had been closed; each GET is. */
  readonly isRepeatable: boolean
  /** Milliseconds. */
  readonly timeout: number
}

type CallOptions = Partial<Pick<Call, 'headers' | 'isRepeatable' | 'timeout'>>

/** As it came from its file: the daemon checks it. */
type DefinitionToRegister = RequestOf<'POST /api/providers'>['body']['definition']

/** The request may be left out where an endpoint takes none. */
type CallArguments<K extends EndpointKey> =
  Record<never, never> extends RequestOf<K>
    ? [request?: RequestOf<K>, options?: CallOptions]
    : [request: RequestOf<K>, options?: CallOptions]

interface AnyRequest extends TargetParts {
  readonly body?: object | undefined
}

function contentOf(json: object | undefined): { readonly headers: Headers; readonly body: Uint8Array<ArrayBuffer> } {
  const accept = { accept: 'application/json' }
  if (json === undefined) return { headers: accept, body: NO_BODY }
  const body = Buffer.from(JSON.stringify(json))
  return {
    headers: { ...accept, 'content-type': 'application/json', 'content-length': String(body.length) },
    body,
  }
}

function callOf(key: EndpointKey, request: AnyRequest = {}, options: CallOptions = {}): Call {
  const { headers, isRepeatable, timeout = ANSWER_TIMEOUT } = options
  const { method, path } = targetOf(key, request)
  const body = request.body ?? (method === 'POST' ? {} : undefined)
  return {
    method,
    path,
    ...(body && { body }),
    ...(headers && { headers }),
    isRepeatable: isRepeatable ?? method === 'GET',
    timeout,
  }
}

function bootstrapHeaders(bootstrap: Secret | undefined): Headers {
  return bootstrap ? { 'x-broker-bootstrap': bootstrap.reveal() } : {}
}

/** Returns whether the call failed because nothing at all listens at the daemon's address. */
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

/** Returns whether it is the form of the answer that a daemon of before does not know. */
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
