import type { DaemonClient } from '../../client/index.ts'
import { isCommonLoopback } from '../../network/index.ts'
import { BrokerError, type ErrorName, type FlowName, isErrorName } from '../../protocol/index.ts'
import type { AuthSession, StartAuthSession } from '../../schemas/index.ts'
import { openInBrowser } from '../browser.ts'
import { interruption } from '../interruption.ts'
import type { Invocation } from '../invocation.ts'
import { askInTerminal, type FilledIn, sendPiped } from '../login-form.ts'
import { isOver, watchUntilNext } from '../login-progress.ts'
import { watchOrPaste } from '../login-return.ts'
import { meantBaseUrl } from '../meant-base-url.ts'
import { connectionNamed, providerNamed } from '../named.ts'
import { ensureDaemon } from '../own-daemon.ts'
import { cancelled, unlessInterrupted } from '../prompt.ts'
import { isAddress, type LoginPlace, parseAddress, placeAt, providersOnHost } from '../provider-at.ts'
import { asAgent } from '../session.ts'

export interface LoginOptions {
  readonly flow?: FlowName
  readonly connection: string
  readonly scopes?: readonly string[]
  readonly baseUrl?: string
  /** With a key that signs, where the provider takes API keys or tokens too. */
  readonly signingKey?: boolean
  /** With the id and secret of a client, where the provider takes API keys too. */
  readonly clientCredentials?: boolean
  readonly force?: boolean
  /** Not with the OAuth app, or the registration, of an earlier login. */
  readonly newClient?: boolean
  /** Whether a browser is opened; where a person is at the terminal, if it is not said. */
  readonly browser?: boolean
}

/** @param target a provider's name, or the address of a server */
export async function login(invocation: Invocation, target: string, options: LoginOptions): Promise<void> {
  const { config, log, output } = invocation
  const address = isAddress(target) ? parseAddress(target) : undefined
  const name = address ? undefined : providerNamed(target)
  connectionNamed(options.connection)
  await ensureDaemon(config, log)
  const interrupted = interruption()
  const {
    provider,
    connection,
    flow,
    warnings = [],
  } = await asAgent(invocation, (client) => {
    const one: Login = { invocation, client, options, signal: interrupted.signal }
    return address ? logInAt(one, address) : logIn(one, name ?? target)
  }).finally(interrupted.stop)
  for (const warning of warnings) output.warn(warning)
  output.result({ status: 'ok', provider, connection, flow }, () => {
    output.done(`Stored connection "${connection}" of ${provider}`)
    output.note(`Use it with \`broker run -- <command>\`.`)
  })
}

/** One `broker login`. */
interface Login {
  readonly invocation: Invocation
  readonly client: DaemonClient
  readonly options: LoginOptions
  /** Ends it. */
  readonly signal: AbortSignal
}

/** The provider of the address is used; a server nobody defined gets a definition, which stays if the login works. */
async function logInAt(login: Login, address: URL): Promise<AuthSession> {
  for (let looks = 1; ; looks++) {
    try {
      const place = await asItWas('ProviderNotFoundError', placeOf(login.client, address))
      return await (place.kind === 'known' ? logInKnown(login, address, place.name) : logInNew(login, address, place))
    } catch (error) {
      if (!(error instanceof PlaceChanged) || looks === MOST_LOOKS) throw unwrapped(error)
    }
  }
}

/** Others may log in at the same server at the same moment, and come first or give up. */
const MOST_LOOKS = 5

/** What was found is so no more. */
class PlaceChanged extends Error {}

function unwrapped(error: unknown): unknown {
  return error instanceof PlaceChanged ? error.cause : error
}

async function placeOf(client: DaemonClient, address: URL): Promise<LoginPlace> {
  const list = await client.providers()
  const neighbours = await Promise.all(
    providersOnHost(list, address).map(async ({ name, hosts }) => {
      const { resource } = (await client.provider(name)).oauth ?? {}
      return { name, hosts, ...(resource !== undefined && { resource }) }
    }),
  )
  return placeAt(address, neighbours, new Set([...list.bundled, ...list.custom].map(({ name }) => name)))
}

async function logInKnown(login: Login, address: URL, name: string): Promise<AuthSession> {
  login.invocation.output.note(`${address.host} belongs to the provider ${name}`)
  return asItWas('ProviderNotFoundError', logIn(login, name))
}

async function logInNew(
  login: Login,
  address: URL,
  { definition }: Extract<LoginPlace, { kind: 'new' }>,
): Promise<AuthSession> {
  const { client, invocation } = login
  const { output } = invocation
  await asItWas('ProviderAlreadyRegisteredError', client.registerBeside(definition))
  const [first] = definition.hosts
  const reach = first?.includes('/') ? `${address.origin}${first.slice(first.indexOf('/'))}` : address.origin
  output.notice(`The token of ${definition.display_name} will be sent to ${reach} and nowhere else.`)
  if (address.protocol === 'http:') output.warn('`broker run` sends tokens over TLS only: not to this address')
  try {
    return await logIn(login, definition.name)
  } catch (error) {
    await client
      .removeUnusedProvider(definition.name)
      .catch(() => output.warn(`"${definition.name}" is still registered`))
    throw error instanceof BrokerError ? withHint(error, `Try again with \`broker login ${address}\`.`) : error
  }
}

/** @throws PlaceChanged where another login has come in between */
async function asItWas<Result>(name: ErrorName, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (cause) {
    throw cause instanceof BrokerError && cause.name === name ? new PlaceChanged(name, { cause }) : cause
  }
}

/** Its own would name what is gone. */
function withHint({ name, message, options }: BrokerError, hint: string): BrokerError {
  return new BrokerError(name, message, { ...options, hint })
}

async function logIn(started: Login, provider: string): Promise<AuthSession> {
  const { invocation } = started
  const login = { ...started, options: await withMeantBaseUrl(started, provider) }
  const { options } = login
  await confirmBaseUrl(invocation, provider, options)
  const free = await withoutKey(login, provider)
  if (free !== undefined) invocation.output.note(free)
  const session = await begin(login, {
    provider,
    connection: options.connection,
    ...(options.flow && { flow: options.flow }),
    ...(options.scopes && { scopes: [...options.scopes] }),
    ...(options.baseUrl && { base_url: options.baseUrl }),
    ...(options.signingKey && { signing: true }),
    ...(options.clientCredentials && { grant: 'client_credentials' as const }),
    ...(options.force && { force: true }),
    ...(options.newClient && { new_client: true }),
  })
  try {
    return completed(await finish(login, session))
  } catch (error) {
    const isEmpty = error instanceof BrokerError && error.name === 'InvalidRequestError' && free !== undefined
    throw isEmpty ? withHint(error, `${free} ${error.options.hint ?? ''}`.trim()) : error
  }
}

/** Servers that people start on their own machine ask for no key unless they were told to. */
async function withoutKey({ client, options: { baseUrl } }: Login, provider: string): Promise<string | undefined> {
  const url = baseUrl === undefined ? undefined : URL.parse(baseUrl)
  if (!url || !isCommonLoopback(url.hostname)) return undefined
  const { self_hosted: places, flow } = await client.provider(provider)
  if (places === undefined || flow !== 'api_key') return undefined
  return `If your ${provider} asks for no key, none is needed: \`broker run\` reaches ${url.origin} without a login.`
}

async function withMeantBaseUrl({ client, options, invocation }: Login, provider: string): Promise<LoginOptions> {
  const { baseUrl } = options
  if (baseUrl === undefined || baseUrl.includes('://')) return options
  const meant = meantBaseUrl(baseUrl, await client.provider(provider))
  if (meant !== baseUrl) invocation.output.note(`The credential goes to ${meant}`)
  return { ...options, baseUrl: meant }
}

/** A person sees where the credential will go; a script has said it by `--base-url` itself. */
async function confirmBaseUrl(
  { terminal }: Invocation,
  provider: string,
  { baseUrl, force }: LoginOptions,
): Promise<void> {
  if (baseUrl === undefined || force || !terminal.canAsk) return
  if (!(await terminal.confirm(`Send the credential of ${provider} to ${baseUrl}?`))) throw cancelled()
}

async function begin(
  { invocation: { terminal }, client, signal }: Login,
  request: StartAuthSession,
): Promise<AuthSession> {
  // The daemon may be waiting for a provider that does not answer.
  const start = (wanted: StartAuthSession) => unlessInterrupted(signal, client.startAuthSession(wanted))
  try {
    return await start(request)
  } catch (error) {
    const exists = error instanceof BrokerError && error.name === 'ConnectionAlreadyExistsError'
    if (!exists || !terminal.canAsk) throw error
    const question = `There is a connection "${request.connection}" of ${request.provider} already. Replace it?`
    if (!(await terminal.confirm(question))) throw cancelled()
    return start({ ...request, force: true })
  }
}

/** Takes one step after the other. Nothing may stay of a login that is given up on the way. */
async function finish(login: Login, begun: AuthSession): Promise<AuthSession> {
  let at: FilledIn = { session: begun, where: 'terminal' }
  try {
    while (!isOver(at.session)) at = await takeStep(login, at)
    return at.session
  } catch (error) {
    const last = await login.client.cancelAuthSession(begun.id).catch(() => undefined)
    // It got done in the same moment.
    if (last?.status === 'completed') return last
    throw error
  }
}

async function takeStep(login: Login, { session, where }: FilledIn): Promise<FilledIn> {
  const { invocation, client, options, signal } = login
  const { output, terminal } = invocation
  const { next_action: next } = session
  const place = { invocation, client, session, signal }
  if (next.type === 'form' && !options.browser) {
    return terminal.canAsk ? askInTerminal(place, next) : sendPiped(place, next)
  }
  if (next.type !== 'none') {
    const overSsh = isOverSsh(invocation)
    output.todo(...toDo(next, overSsh))
    const opens =
      options.browser ?? (terminal.canAsk && (!overSsh || invocation.config.inherited['BROWSER'] !== undefined))
    // A page that took the form leads on by itself.
    if (opens && where === 'terminal') await openPage(invocation, next.url)
  }
  if (next.type === 'open_url' && terminal.canAsk) return { ...(await watchOrPaste(place)), where }
  const latest = await watchUntilNext(client, session, terminal, signal)
  return { session: latest, where: next.type === 'form' ? 'browser' : where }
}

/** The browser is on the machine in front of the person, and the daemon is not. `BROWSER` may know the way there. */
function isOverSsh({ config: { inherited } }: Invocation): boolean {
  return ['SSH_CONNECTION', 'SSH_TTY'].some((name) => inherited[name] !== undefined)
}

type NextAction = Exclude<AuthSession['next_action'], { readonly type: 'none' }>

function toDo(next: NextAction, isOverSsh: boolean): readonly (readonly [string, string])[] {
  switch (next.type) {
    case 'form':
      return [['Enter it in your browser:', next.url]]
    case 'open_url':
      return [[isOverSsh ? 'Log in with the browser of your own machine:' : 'Log in with your browser:', next.url]]
    case 'device_code':
      return [
        ['Open', next.verification_uri],
        ['and enter the code', next.user_code],
      ]
  }
}

async function openPage({ config, output }: Invocation, url: string): Promise<void> {
  const opened = await openInBrowser(url, { env: config.inherited })
  if (!opened) output.note('No browser was found to open it with.')
}

/** @throws BrokerError: what the session says of itself */
function completed(session: AuthSession): AuthSession {
  const { status, provider, connection, error, message } = session
  if (status === 'completed') return session
  const why = error?.message ?? message ?? `the session is ${status}`
  const name = status === 'cancelled' ? 'InputCancelledError' : error?.error
  throw new BrokerError(
    isErrorName(name) ? name : 'AuthenticationFailedError',
    error ? why : `Cannot log in to ${provider}: ${why}`,
    { provider, connection, hint: `Try again with \`broker login ${provider}\`.` },
  )
}
