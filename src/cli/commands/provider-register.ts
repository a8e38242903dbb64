import { BrokerError, type ErrorDetail, exitCodeOf } from '../../protocol/index.ts'
import type { RegisteredOne } from '../../schemas/index.ts'
import { isWritten, type ReadDefinition, readDefinitions, type WrittenDefinition } from '../definition-file.ts'
import type { Invocation } from '../invocation.ts'
import { failureDocument } from '../output.ts'
import { cancelled } from '../prompt.ts'
import { asAgent } from '../session.ts'

export interface RegisterOptions {
  readonly force?: boolean
  readonly yes?: boolean
}

/** One definition, or all of a folder or list: these are registered together, or none of them. */
export async function registerProvider(
  invocation: Invocation,
  path: string,
  options: RegisterOptions,
): Promise<number | undefined> {
  const { isMany, read } = await readDefinitions(path, invocation.terminal.input)
  const [first] = read
  if (isMany || first === undefined || 'failure' in first) return registerAll(invocation, read, options)
  return registerOne(invocation, first, options)
}

async function registerOne(
  invocation: Invocation,
  file: WrittenDefinition,
  { force = false, yes = false }: RegisterOptions,
): Promise<undefined> {
  const { output } = invocation
  if (!force && !yes) await confirmRegistration(invocation, [file])
  const answer = await asAgent(invocation, async (client) => {
    try {
      return await client.registerProvider(file.definition, force)
    } catch (error) {
      if (force || yes || !isTaken(error)) throw withLines(error, file)
      if (!(await invocation.terminal.confirm(`${error.message}. Overwrite it?`))) throw cancelled()
      return client.registerProvider(file.definition, true)
    }
  })
  for (const warning of answer.warnings) output.warn(warning)
  output.result(answer, () => output.done(`Registered ${answer.provider}`))
}

async function registerAll(
  invocation: Invocation,
  read: readonly ReadDefinition[],
  { force = false, yes = false }: RegisterOptions,
): Promise<number> {
  const files = read.filter(isWritten)
  if (files.length === read.length && !force && !yes) await confirmRegistration(invocation, files)
  // With one that cannot be read, nothing is registered: it stands for one that no daemon takes.
  const unread = read.length - files.length
  const definitions = [...files.map(({ definition }) => definition), ...Array.from({ length: unread }, () => null)]
  const { results } =
    files.length === 0
      ? { results: [] }
      : await asAgent(invocation, (client) => client.registerProviders(definitions, force))
  const said = read.map((one): Reported => {
    if ('failure' in one) return { file: one.file, status: 'failed', warnings: [], ...failureDocument(one.failure) }
    const { details, ...result } = results[files.indexOf(one)] ?? NOT_ANSWERED
    return { file: one.file, ...result, ...(details && { details: details.map((detail) => lined(detail, one)) }) }
  })
  return report(invocation, said)
}

const NOT_ANSWERED: RegisteredOne = { status: 'failed', error: 'InvalidRequestError', warnings: [] }

interface Reported extends Omit<RegisteredOne, 'error'> {
  readonly file: string
  readonly error?: BrokerError['name'] | undefined
}

function report({ output }: Invocation, results: readonly Reported[]): number {
  const failed = results.find(({ status }) => status === 'failed')
  const count = results.filter(({ status }) => status === 'failed').length
  const failure = failed && new BrokerError(failed.error ?? 'InvalidRequestError', nothingDone(count, results.length))
  for (const { file, warnings } of results) for (const warning of warnings) output.warn(`${file}: ${warning}`)
  const status = failure ? 'failed' : 'ok'
  output.result({ status, results, ...(failure && failureDocument(failure)) }, () => {
    for (const { file, provider, status: one, message, details = [] } of results) {
      if (one === 'registered') output.done(`Registered ${provider}`)
      if (one !== 'failed') continue
      output.notice(`${file}: ${message}`)
      for (const { path, message: rule } of details) output.notice(`  ${path} ${rule}`)
    }
    if (failure) output.fail(failure)
  })
  return failure ? exitCodeOf[failure.name] : 0
}

function nothingDone(failed: number, all: number): string {
  return `Nothing was registered: ${failed} of ${all} ${all === 1 ? 'definition' : 'definitions'} cannot be`
}

/** The hosts are what a person has to look at: they decide where a credential may go. */
async function confirmRegistration(
  { output, terminal }: Invocation,
  files: readonly WrittenDefinition[],
): Promise<void> {
  const [first] = files
  const names = files.length === 1 ? `"${first?.name}"` : `${files.length} providers`
  if (!terminal.canAsk) {
    throw new BrokerError('InputCancelledError', `Cannot ask whether to register ${names}: this is no terminal`, {
      hint: 'Confirm with --yes, or with --force where it may overwrite a provider of the same name.',
    })
  }
  for (const { name, hosts } of files) {
    output.notice(`Credentials of ${name} will be sent to: ${hosts.join(', ') || '(no host)'}`)
  }
  const what = files.length === 1 ? first?.name : `these ${names}`
  if (!(await terminal.confirm(`Register ${what}?`))) throw cancelled()
}

function isTaken(error: unknown): error is BrokerError {
  return error instanceof BrokerError && error.name === 'ProviderAlreadyRegisteredError'
}

/** With the line of each thing that is wrong. */
function withLines(error: unknown, file: WrittenDefinition): unknown {
  if (!(error instanceof BrokerError) || error.options.details === undefined) return error
  const details = error.options.details.map((detail) => lined(detail, file))
  return new BrokerError(error.name, error.message, { ...error.options, details, cause: error })
}

/** The daemon names what was sent, whose part the definition is. */
function lined({ path, message }: ErrorDetail, file: WrittenDefinition): ErrorDetail {
  const own = path.replace(/^(?:body\.)?definition(?:\.|$)/, '')
  return { path, message: `${message} (line ${file.lineOf(own)})` }
}
