import { setTimeout as delay } from 'node:timers/promises'
import type { DaemonClient } from '../../client/index.ts'
import { BrokerError, type FlowName, type Secret } from '../../protocol/index.ts'
import type { AuthSession, Field, ProviderDefinition, StartAuthSession } from '../../schemas/index.ts'
import { openInBrowser } from '../browser.ts'
import type { Invocation } from '../invocation.ts'
import { connectionNamed, providerNamed } from '../named.ts'
import { ensureDaemon } from '../own-daemon.ts'
import { readPipedSecret } from '../piped-secret.ts'
import { asAgent } from '../session.ts'
import { cancelled } from '../terminal.ts'

export interface LoginOptions {
  readonly flow?: FlowName
  readonly connection: string
  readonly scopes?: readonly string[]
  readonly baseUrl?: string
  readonly force?: boolean
  readonly browser?: boolean
}

const LOOK_AGAIN = 1_000

export async function login(invocation: Invocation, name: string, options: LoginOptions): Promise<void> {
  const { config, log, output } = invocation
  const provider = providerNamed(name)
  const connection = connectionNamed(options.connection)
  await ensureDaemon(config, log)
  const session = await asAgent(invocation, async (client) => {
    const definition = await client.provider(provider)
    requireKeyFlow(definition, options.flow)
    await confirmBaseUrl(invocation, provider, options)
    const begun = await begin(invocation, client, {
      provider,
      connection,
      flow: 'api_key',
      ...(options.scopes && { scopes: [...options.scopes] }),
      ...(options.baseUrl && { base_url: options.baseUrl }),
      ...(options.force && { force: true }),
    })
    return finish(invocation, client, begun, options)
  })
  checkCompleted(session)
  output.result({ status: 'ok', provider, connection, flow: session.flow }, () => {
    output.done(`Stored connection "${connection}" of ${provider}`)
    output.note(`Use it with \`broker run -- <command>\`.`)
  })
}

function requireKeyFlow({ name, flow, api_key }: ProviderDefinition, wanted: FlowName | undefined): void {
  if ((wanted ?? flow) === 'api_key') return
  throw new BrokerError(
    'OperationNotAllowedError',
    `Cannot log in to ${name} by ${wanted ?? flow}: OAuth logins come with the next version`,
    {
      provider: name,
      ...(api_key && { hint: `It takes an API key, too: \`broker login ${name} --flow api_key\`.` }),
    },
  )
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

async function begin({ terminal }: Invocation, client: DaemonClient, request: StartAuthSession): Promise<AuthSession> {
  try {
    return await client.startAuthSession(request)
  } catch (error) {
    const exists = error instanceof BrokerError && error.name === 'ConnectionAlreadyExistsError'
    if (!exists || !terminal.canAsk) throw error
    const question = `There is a connection "${request.connection}" of ${request.provider} already. Replace it?`
    if (!(await terminal.confirm(question))) throw cancelled()
    return client.startAuthSession({ ...request, force: true })
  }
}

function finish(
  invocation: Invocation,
  client: DaemonClient,
  session: AuthSession,
  { browser }: LoginOptions,
): Promise<AuthSession> {
  const { next_action } = session
  if (next_action.type !== 'form') return Promise.resolve(session)
  if (browser) return waitForBrowser(invocation, client, session, next_action.url)
  if (invocation.terminal.canAsk) return askInTerminal(invocation, client, session, next_action)
  return sendPiped(invocation, client, session, next_action.fields)
}

async function waitForBrowser(
  { output, terminal }: Invocation,
  client: DaemonClient,
  session: AuthSession,
  url: string,
): Promise<AuthSession> {
  output.notice(`Enter the key in your browser: ${url}`)
  await openInBrowser(url)
  const spinner = terminal.spin(waiting(session))
  const interrupted = interruption()
  try {
    return await untilOver(client, session, interrupted.signal, (latest) => spinner.update(waiting(latest)))
  } finally {
    interrupted.stop()
    spinner.stop()
  }
}

function waiting({ expires_at }: AuthSession): string {
  const seconds = Math.max(0, Math.round((Date.parse(expires_at) - Date.now()) / 1000))
  return `Waiting for the browser, ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left (Ctrl-C to cancel)`
}

/** Ctrl-C ends the wait and not the process, so that the spinner's line is cleared and the exit code is ours. */
function interruption(): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController()
  const interrupt = () => controller.abort()
  process.once('SIGINT', interrupt)
  return { signal: controller.signal, stop: () => process.off('SIGINT', interrupt) }
}

/** Polls until the session is over. @throws BrokerError InputCancelledError where `signal` fires first. */
async function untilOver(
  client: DaemonClient,
  session: AuthSession,
  signal: AbortSignal,
  onPoll?: (session: AuthSession) => void,
): Promise<AuthSession> {
  let latest = session
  while (!isOver(latest)) {
    onPoll?.(latest)
    await delay(LOOK_AGAIN, undefined, { signal }).catch(() => {
      throw cancelled()
    })
    latest = await client.authSession(session.id)
  }
  return latest
}

function isOver({ status }: AuthSession): boolean {
  return status === 'completed' || status === 'failed' || status === 'expired' || status === 'cancelled'
}

/** Asks here and listens whether the form is filled in at the same time; whichever is first wins. */
async function askInTerminal(
  { output, terminal }: Invocation,
  client: DaemonClient,
  session: AuthSession,
  { url, fields }: { readonly url: string; readonly fields: readonly Field[] },
): Promise<AuthSession> {
  output.notice(`Type it here, or enter it in your browser: ${url}`)
  const answered = new AbortController()
  const formFilled = new AbortController()
  const inBrowser = untilOver(client, session, answered.signal).then(
    (latest) => {
      formFilled.abort()
      return latest
    },
    () => undefined,
  )
  try {
    for (;;) {
      const input = await askFields(terminal, fields, formFilled.signal)
      if (!input) return (await inBrowser) ?? session
      const outcome = await resume(client, session, input)
      if (!(outcome instanceof BrokerError)) return outcome
      output.notice(explain(outcome))
    }
  } finally {
    answered.abort()
  }
}

async function askFields(
  terminal: Invocation['terminal'],
  fields: readonly Field[],
  signal: AbortSignal,
): Promise<Readonly<Record<string, Secret>> | undefined> {
  const input: Record<string, Secret> = {}
  for (const field of fields) {
    const question = field.help ? `${field.label} (${field.help})` : field.label
    const value = await terminal.ask(question, { isSecret: field.secret, isRequired: field.required, signal })
    if (signal.aborted) return undefined
    if (value) input[field.name] = value
  }
  return input
}

/** A value of the wrong shape is an answer to be shown, not the end: the session goes on. */
async function resume(
  client: DaemonClient,
  session: AuthSession,
  input: Readonly<Record<string, Secret>>,
): Promise<AuthSession | BrokerError> {
  try {
    return await client.resumeAuthSession(session.id, input)
  } catch (error) {
    if (error instanceof BrokerError && error.name === 'InvalidRequestError') return error
    throw error
  }
}

function explain({ message, options: { details = [] } }: BrokerError): string {
  return details.length === 0 ? message : details.map(({ message: rule }) => `This ${rule}`).join('; ')
}

async function sendPiped(
  { terminal }: Invocation,
  client: DaemonClient,
  session: AuthSession,
  fields: readonly Field[],
): Promise<AuthSession> {
  const required = fields.filter((field) => field.required)
  const [field] = required.length > 0 ? required : fields
  if (!field || required.length > 1) {
    throw new BrokerError(
      'InvalidRequestError',
      `${session.provider} needs more than one value: one line cannot hold them`,
      {
        provider: session.provider,
        hint: 'Log in at a terminal, or with --browser.',
      },
    )
  }
  return client.resumeAuthSession(session.id, { [field.name]: await readPipedSecret(terminal.input) })
}

function checkCompleted({ status, provider, connection, error, message }: AuthSession): void {
  if (status === 'completed') return
  const why = error?.message ?? message ?? `the session is ${status}`
  throw new BrokerError(
    status === 'cancelled' ? 'InputCancelledError' : 'AuthenticationFailedError',
    `Cannot log in to ${provider}: ${why}`,
    {
      provider,
      connection,
      hint: `Try again with \`broker login ${provider}\`.`,
    },
  )
}
