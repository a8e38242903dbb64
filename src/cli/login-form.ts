import type { DaemonClient } from '../client/index.ts'
import { BrokerError, type Secret } from '../protocol/index.ts'
import type { AuthSession, Field } from '../schemas/index.ts'
import type { Invocation } from './invocation.ts'
import { askForKeyFile } from './key-file.ts'
import { untilNext } from './login-progress.ts'
import { readPipedFields, readPipedSecret } from './piped-secret.ts'

export interface FilledIn {
  readonly session: AuthSession
  /** Whoever filled it in at a page is led on there. */
  readonly where: 'terminal' | 'browser'
}

/** Asks here and listens whether the form is filled in at the same time; whichever is first wins. */
export async function askInTerminal(
  invocation: Invocation,
  client: DaemonClient,
  session: AuthSession,
  { url, fields }: { readonly url: string; readonly fields: readonly Field[] },
): Promise<FilledIn> {
  const { output } = invocation
  output.notice(`Type it here, or enter it in your browser: ${url}`)
  const answered = new AbortController()
  const formFilled = new AbortController()
  const inBrowser = untilNext(client, session, answered.signal).then(
    (latest) => {
      formFilled.abort()
      return latest
    },
    () => undefined,
  )
  try {
    for (;;) {
      const input = await askFields(invocation, fields, formFilled.signal)
      if (!input) return { session: (await inBrowser) ?? session, where: 'browser' }
      const outcome = await resume(client, session, input)
      if (!(outcome instanceof BrokerError)) return { session: outcome, where: 'terminal' }
      output.notice(explain(outcome))
    }
  } finally {
    answered.abort()
  }
}

async function askFields(
  invocation: Invocation,
  fields: readonly Field[],
  signal: AbortSignal,
): Promise<Readonly<Record<string, Secret>> | undefined> {
  const input: Record<string, Secret> = {}
  for (const field of fields) {
    const value = await askField(invocation, field, signal)
    if (signal.aborted) return undefined
    if (value) input[field.name] = value
  }
  return input
}

/** What is longer than a line is in a file: it is read from there. */
function askField({ output, terminal }: Invocation, field: Field, signal: AbortSignal): Promise<Secret | undefined> {
  const text = field.help ? `${field.label} (${field.help})` : field.label
  const isRequired = field.required
  return field.multiline
    ? askForKeyFile({ terminal, text, isRequired, signal, notice: (why) => output.notice(why) })
    : terminal.ask(text, { isSecret: field.secret, isRequired, signal })
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

/**
 * For scripts: the one value that is needed is on standard input; where it takes more than one, they are a JSON object of
 * values by field name.
 */
export async function sendPiped(
  { terminal }: Invocation,
  client: DaemonClient,
  session: AuthSession,
  fields: readonly Field[],
): Promise<AuthSession> {
  const required = fields.filter((field) => field.required)
  const [field] = required.length > 0 ? required : fields
  const input =
    !field || required.length > 1
      ? await readPipedFields(terminal.input, fields)
      : { [field.name]: await readPipedSecret(terminal.input, field.multiline ? 'file' : 'line') }
  return client.resumeAuthSession(session.id, input)
}
