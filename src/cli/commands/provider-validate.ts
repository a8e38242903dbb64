import { BrokerError, exitCodeOf } from '../../protocol/index.ts'
import { isWritten, type ReadDefinition, readDefinitions, type WrittenDefinition } from '../definition-file.ts'
import type { Invocation } from '../invocation.ts'
import { checkOffline, type Verdict } from '../offline-check.ts'
import { failureDocument } from '../output.ts'

interface Problem {
  /** Within the definition; empty for the file as a whole. */
  readonly path: string
  readonly message: string
  readonly line?: number
}

interface Validated {
  readonly file: string
  readonly provider?: string
  readonly status: 'ok' | 'failed'
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
}

/** Holds definitions to the rules, without a daemon, and says all that is wrong at once. Exit code 2 where anything is. */
export async function validateProviders(invocation: Invocation, path: string): Promise<number> {
  const results = await validated(invocation, path)
  const { output } = invocation
  const failed = results.filter(({ status }) => status === 'failed')
  const failure = failed.length > 0 ? refused(failed.length, results.length) : undefined
  output.result({ status: failure ? 'failed' : 'ok', results, ...(failure && failureDocument(failure)) }, () => {
    for (const result of results) show(invocation, result)
    if (failure) output.fail(failure)
  })
  return failure ? exitCodeOf[failure.name] : 0
}

async function validated(invocation: Invocation, path: string): Promise<readonly Validated[]> {
  const read = await readAll(invocation, path)
  const files = read.filter(isWritten)
  const verdicts = await checkOffline(
    invocation.config,
    files.map(({ definition }) => definition),
  )
  return read.map((one) =>
    'failure' in one ? unread(one.file, one.failure) : outcomeOf(one, verdicts[files.indexOf(one)]),
  )
}

async function readAll({ terminal }: Invocation, path: string): Promise<readonly ReadDefinition[]> {
  try {
    return (await readDefinitions(path, terminal.input)).read
  } catch (failure) {
    // What a file says wrongly is what was asked for; that there is none is not.
    if (failure instanceof BrokerError && failure.options.details !== undefined) return [{ file: path, failure }]
    throw failure
  }
}

function unread(file: string, { message, options: { details = [] } }: BrokerError): Validated {
  const [shown] = details
  const line = /: line (\d+), /.exec(message)?.[1]
  const said = message.replace(/^Cannot use .*?: (?:line \d+, )?/s, '')
  const problem = { path: '', message: shown ? `${said}: ${shown.message}` : said }
  return {
    file,
    status: 'failed',
    problems: [{ ...problem, ...(line !== undefined && { line: Number(line) }) }],
    warnings: [],
  }
}

function outcomeOf(file: WrittenDefinition, { name, problems, conflicts }: Verdict = NO_VERDICT): Validated {
  return {
    file: file.file,
    ...(name !== undefined && { provider: name }),
    status: problems.length === 0 ? 'ok' : 'failed',
    problems: problems.map((problem) => ({ ...problem, line: file.lineOf(problem.path) })),
    warnings: conflicts,
  }
}

const NO_VERDICT: Verdict = { problems: [{ path: '', message: 'was not checked' }], conflicts: [] }

function show({ output }: Invocation, { file, provider, problems, warnings }: Validated): void {
  for (const warning of warnings) output.warn(`${file}: ${warning}`)
  if (problems.length === 0) output.line(`${file}: ok, ${provider}`)
  for (const { path, message, line } of problems) {
    const place = line === undefined ? file : `${file}:${line}`
    output.line(`${place}: ${[path, message].filter((part) => part !== '').join(' ')}`)
  }
}

function refused(failed: number, all: number): BrokerError {
  const what = all === 1 ? 'The definition cannot be used' : `${failed} of ${all} definitions cannot be used`
  return new BrokerError('InvalidRequestError', what, { hint: 'Every field is explained in docs/providers.md.' })
}
