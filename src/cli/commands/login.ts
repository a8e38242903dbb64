import type { DaemonClient } from '../../client/index.ts'
import { BrokerError, type FlowName, isErrorName } from '../../protocol/index.ts'
import type { AuthSession, StartAuthSession } from '../../schemas/index.ts'
import { openInBrowser } from '../browser.ts'
import type { Invocation } from '../invocation.ts'
import { askInTerminal, type FilledIn, sendPiped } from '../login-form.ts'
import { interruption, isOver, watchUntilNext } from '../login-progress.ts'
import { connectionNamed, providerNamed } from '../named.ts'
import { ensureDaemon } from '../own-daemon.ts'
import { definitionFor, isAddress, parseAddress, providerAt } from '../provider-at.ts'
import { asAgent } from '../session.ts'
import { cancelled } from '../terminal.ts'

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
  const { provider, connection, flow } = await asAgent(invocation, (client) =>
    address
      ? logInAt({ invocation, client, options }, address)
      : logIn({ invocation, client, options }, name ?? target),
  )
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
}

/** The provider that has the address is used; a server nobody defined gets a definition, which stays if the login works. */
async function logInAt(login: Login, address: URL): Promise<AuthSession> {
  const { invocation, client } = login
  const { output } = invocation
  const providers = await client.providers()
  const known = providerAt(providers, address)
  if (known) {
    output.note(`${address.host} belongs to the provider ${known.name}`)
    return logIn(login, known.name)
  }
  const definition = definitionFor(address, providers)
  output.notice(`The token of ${address.host} will be sent to ${address.origin} and nowhere else.`)
  if (address.protocol === 'http:') output.warn('`broker run` sends tokens over TLS only: not to this address')
  await client.registerProvider(definition, false)
  try {
    return await logIn(login, definition.name)
  } catch (error) {
    await removeUnused(client, definition.name).catch(() => output.warn(`"${definition.name}" is still registered`))
    throw error instanceof BrokerError ? withHint(error, `Try again with \`broker login ${address}\`.`) : error
  }
}

/** Another login there may have worked meanwhile; with the definition its connection would go. */
async function removeUnused(client: DaemonClient, name: string): Promise<void> {
  const connections = await client.connections()
  if (connections.every(({ provider }) => provider !== name)) await client.removeProvider(name)
}

/** Its own would name what is gone. */
function withHint({ name, message, options }: BrokerError, hint: string): BrokerError {
  return new BrokerError(name, message, { ...options, hint })
}

async function logIn(login: Login, provider: string): Promise<AuthSession> {
  const { options, invocation } = login
  await confirmBaseUrl(invocation, provider, options)
  const interrupted = interruption()
  try {
    const session = await begin(login, interrupted.signal, {
      provider,
      connection: options.connection,
      ...(options.flow && { flow: options.flow }),
      ...(options.scopes && { scopes: [...options.scopes] }),
      ...(options.baseUrl && { base_url: options.baseUrl }),
      ...(options.signingKey && { signing: true }),
      ...(options.clientCredentials && { grant: 'client_credentials' as const }),
      ...(options.force && { force: true }),
    })
    return completed(await finish(login, session, interrupted.signal))
  } finally {
    interrupted.stop()
  }
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
  { invocation: { terminal }, client }: Login,
  signal: AbortSignal,
  request: StartAuthSession,
): Promise<AuthSession> {
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

/** The daemon may be waiting for a provider that does not answer. */
async function unlessInterrupted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const interrupt = () => reject(cancelled())
  signal.addEventListener('abort', interrupt, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', interrupt)
  }
}

/** Takes one step after the other. Nothing may stay of a login that is given up on the way. */
async function finish(login: Login, begun: AuthSession, signal: AbortSignal): Promise<AuthSession> {
  let at: FilledIn = { session: begun, where: 'terminal' }
  try {
    while (!isOver(at.session)) at = await takeStep(login, at, signal)
    return at.session
  } catch (error) {
    const last = await login.client.cancelAuthSession(begun.id).catch(() => undefined)
    // It got done in the same moment.
    if (last?.status === 'completed') return last
    throw error
  }
}

async function takeStep(login: Login, { session, where }: FilledIn, signal: AbortSignal): Promise<FilledIn> {
  const { invocation, client, options } = login
  const { output, terminal } = invocation
  const { next_action: next } = session
  if (next.type === 'form' && !options.browser) {
    if (terminal.canAsk) return askInTerminal(invocation, client, session, next)
    if (session.flow === 'api_key') {
      return { session: await sendPiped(invocation, client, session, next.fields), where }
    }
  }
  if (next.type !== 'none') {
    output.todo(...toDo(next))
    const opens = options.browser ?? terminal.canAsk
    // A page that took the form leads on by itself.
    if (opens && where === 'terminal') await openPage(invocation, next.url)
  }
  const latest = await watchUntilNext(client, session, terminal, signal)
  return { session: latest, where: next.type === 'form' ? 'browser' : where }
}

type NextAction = Exclude<AuthSession['next_action'], { readonly type: 'none' }>

function toDo(next: NextAction): readonly (readonly [string, string])[] {
  switch (next.type) {
    case 'form':
      return [['Enter it in your browser:', next.url]]
    case 'open_url':
      return [['Log in with your browser:', next.url]]
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
