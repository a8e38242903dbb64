import type { DaemonClient } from '../client/index.ts'
import { BrokerError, type Secret } from '../protocol/index.ts'
import type { AuthSession, Field } from '../schemas/index.ts'
import type { Invocation } from './invocation.ts'
import { askForKeyFile } from './key-file.ts'
import { untilNext } from './login-progress.ts'
import { readPipedField, readPipedFields } from './piped-secret.ts'
import { unlessInterrupted } from './prompt.ts'

export interface FilledIn {
  readonly session: AuthSession
  /** Whoever filled it in at a page is led on there. */
  readonly where: 'terminal' | 'browser'
}

export type Form = Extract<AuthSession['next_action'], { readonly type: 'form' }>
export type Input = Readonly<Record<string, Secret>>

/** One login, as those see it who take its steps. */
export interface Place {
  readonly invocation: Invocation
  readonly client: DaemonClient
  readonly session: AuthSession
  /** Ends the login. */
  readonly signal: AbortSignal
}

/** Asks here and listens whether the form is filled in at the same time; whichever is first wins. */
export function askInTerminal(place: Place, { url, fields, docs_url: docsUrl }: Form): Promise<FilledIn> {
  const { output } = place.invocation
  if (docsUrl !== undefined) output.address(`Make ${isApp(place.session) ? 'an app' : 'one'} at:`, docsUrl)
  output.address('Type it here, or enter it in your browser:', url)
  return askUntilTaken(place, (signal) => askFields(place.invocation, fields, signal))
}

/**
 * Asks, and sends what was answered, until the daemon takes it or the login goes on without it.
 * @param ask undefined where its signal fired first
 */
export async function askUntilTaken(
  place: Place,
  ask: (signal: AbortSignal) => Promise<Input | undefined>,
  onLook?: (latest: AuthSession) => void,
): Promise<FilledIn> {
  const { client, session, signal } = place
  const answered = new AbortController()
  const wentOn = new AbortController()
  const elsewhere = untilNext(client, session, AbortSignal.any([signal, answered.signal]), onLook)
  const listening = elsewhere.catch(() => undefined).finally(() => wentOn.abort())
  try {
    for (;;) {
      const input = await ask(wentOn.signal)
      if (!input) return { session: await elsewhere, where: 'browser' }
      const outcome = await resume(place, input)
      if (!(outcome instanceof BrokerError)) return { session: outcome, where: 'terminal' }
      place.invocation.output.notice(explain(outcome))
    }
  } finally {
    answered.abort()
    await listening
  }
}

async function askFields(
  invocation: Invocation,
  fields: readonly Field[],
  signal: AbortSignal,
): Promise<Input | undefined> {
  const input: Record<string, Secret> = {}
  for (const field of fields) {
    const value = await askField(invocation, field, signal)
    if (signal.aborted) return undefined
    if (value) input[field.name] = value
  }
  return input
}

/** Reads from its file what is longer than a line. */
function askField({ output, terminal }: Invocation, field: Field, signal: AbortSignal): Promise<Secret | undefined> {
  const about = [field.help, ...(field.required ? [] : ['optional'])].filter((text) => text !== undefined)
  const text = about.length > 0 ? `${field.label} (${about.join('; ')})` : field.label
  const isRequired = field.required
  return field.multiline
    ? askForKeyFile({ terminal, text, isRequired, signal, notice: (why) => output.notice(why) })
    : terminal.ask(text, { isSecret: field.secret, isRequired, signal })
}

/** A value of the wrong shape is an answer to be shown, not the end: the session goes on. */
async function resume(place: Place, input: Input): Promise<AuthSession | BrokerError> {
  const spinner = place.invocation.terminal.spin('Checking (Ctrl-C to cancel)')
  try {
    return await send(place, input)
  } catch (error) {
    if (error instanceof BrokerError && error.name === 'InvalidRequestError') return error
    throw error
  } finally {
    spinner.stop()
  }
}

/** The daemon may be waiting for a provider that does not answer. */
function send({ client, session, signal }: Place, input: Input): Promise<AuthSession> {
  return unlessInterrupted(signal, client.resumeAuthSession(session.id, input))
}

function explain({ message, options: { details = [] } }: BrokerError): string {
  return details.length === 0 ? message : details.map(({ message: rule }) => `This ${rule}`).join('; ')
}

/**
 * For scripts: the one value that is needed is on standard input; where it takes more than one, or is an app, they are a
 * JSON object of values by field name. An app may be entered at its page meanwhile.
 */
export function sendPiped(place: Place, form: Form): Promise<FilledIn> {
  return isApp(place.session) ? sendPipedApp(place, form) : sendPipedKey(place, form)
}

async function sendPipedKey(place: Place, { fields }: Form): Promise<FilledIn> {
  const required = fields.filter((field) => field.required)
  const [field] = required.length > 0 ? required : fields
  if (!field || required.length > 1) return sendFields(place, fields, PIPE_OTHERWISE)
  const { invocation, session } = place
  const input = await saying(place, `Waiting for the ${field.label} on standard input`, () =>
    readPipedField(invocation.terminal.input, field),
  )
  if ('client_id' in input && fields.every(({ name }) => name !== 'client_id')) throw appForKey(session)
  return { session: await send(place, input), where: 'terminal' }
}

function appForKey({ provider }: AuthSession): BrokerError {
  return new BrokerError('InvalidRequestError', `Cannot use an OAuth app as the credential of ${provider}`, {
    provider,
    hint: `Pipe in its key; where it takes an app: broker login ${provider} --flow pkce`,
  })
}

async function sendFields(place: Place, fields: readonly Field[], otherwise: string): Promise<FilledIn> {
  const { invocation } = place
  const hint = `Pipe in ${namesOf(fields)}, ${otherwise}`
  const input = await saying(place, `Waiting for ${namesOf(fields)} on standard input`, () =>
    readPipedFields(invocation.terminal.input, hint),
  )
  return { session: await send(place, input), where: 'terminal' }
}

const PIPE_OTHERWISE = 'log in at a terminal, or use --browser.'

async function sendPipedApp(place: Place, { url, fields, docs_url: docsUrl }: Form): Promise<FilledIn> {
  const { client, session, signal, invocation } = place
  const make = docsUrl === undefined ? '' : ` (make one: ${docsUrl})`
  const otherwise = `the OAuth app of your own that ${session.provider} needs${make}; or ${PIPE_OTHERWISE}`
  invocation.output.todo(['Enter it in your browser:', url])
  const piped = new AbortController()
  const inBrowser = untilNext(client, session, AbortSignal.any([signal, piped.signal]))
  try {
    return await Promise.race([
      sendFields(place, fields, otherwise),
      inBrowser.then((latest): FilledIn => ({ session: latest, where: 'browser' })),
    ])
  } finally {
    piped.abort()
    await inBrowser.catch(() => undefined)
  }
}

function namesOf(fields: readonly Field[]): string {
  return `{${fields.map(({ name, required }) => (required ? `"${name}": "…"` : `"${name}": "…" if there is one`)).join(', ')}}`
}

const PATIENCE = 2_000

/** Whoever sees nothing come says what would have to. */
async function saying<Result>(
  { invocation: { output }, signal }: Place,
  text: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const timer = setTimeout(() => output.notice(`${text} (Ctrl-C to cancel)`), PATIENCE)
  try {
    return await unlessInterrupted(signal, work())
  } finally {
    clearTimeout(timer)
  }
}

function isApp({ flow }: AuthSession): boolean {
  return flow !== 'api_key'
}
