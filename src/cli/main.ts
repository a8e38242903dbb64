import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { CommanderError } from 'commander'
import picocolors from 'picocolors'
import { loadConfig, proxiesOfRun, refuseForeignHome, userFolder } from '../config/index.ts'
import { BrokerError } from '../protocol/index.ts'
import type { StartedProxy } from '../run/index.ts'
import { COMPLETE_WORDS } from './command-words.ts'
import { openDebugLog } from './debug-log.ts'
import { interrupt } from './interruption.ts'
import type { Invocation } from './invocation.ts'
import { Output } from './output.ts'
import { createProgram, type GlobalOptions, helpDocument } from './program.ts'
import { openTerminal } from './terminal.ts'
import { usageError } from './usage-error.ts'

/**
 * The command line: reads what was typed, asks the daemon, and says the outcome to a person or a program. Runs one
 * command and ends the process with its exit code.
 * This room must never import the daemon, open a browser at anything but http(s), take a secret as an argument, or print one.
 */
export async function main(argv: readonly string[], runProxy: StartedProxy | undefined): Promise<void> {
  endQuietlyWhenNobodyReads()
  const code = await run(argv, runProxy)
  await Promise.all([drained(process.stdout), drained(process.stderr)])
  process.exit(code)
}

async function run(argv: readonly string[], runProxy: StartedProxy | undefined): Promise<number> {
  if (argv[0] === COMPLETE_WORDS) return await completeWords(argv.slice(1))
  // Before anything is parsed: a wrong argument is told in JSON, too.
  const json = wantsJson(argv)
  let output = openOutput({ json, color: !argv.includes('--no-color') })
  let code = 0
  let written = ''
  const program = createProgram(
    packageVersion(),
    async (globals, command) => {
      output = openOutput(globals)
      const invocation = openInvocation(globals, output, await ownEnvironment())
      code = (await command({ ...invocation, ...(runProxy && { runProxy }) })) ?? 0
    },
    json
      ? (text) => {
          written += text
        }
      : undefined,
  )
  try {
    await program.parseAsync([...argv], { from: 'user' })
    if (written !== '') output.document(helpDocument(written))
    return code
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) {
      if (written !== '') output.document(documentOf(error, written))
      return 0
    }
    const failure = error instanceof CommanderError ? usageError(error) : error
    showStack(failure, argv)
    return output.fail(failure)
  }
}

function documentOf({ code }: CommanderError, written: string): object {
  return code === 'commander.version' ? { version: written.trim() } : helpDocument(written)
}

/** Answers the completions of shells: says what it finds within its time, and nothing of what fails. */
async function completeWords(words: readonly string[]): Promise<number> {
  const output = openOutput({ color: false })
  const globals = { quiet: true, logFile: '', command: COMPLETE_WORDS }
  const { printCompletions } = await import('./commands/complete-words.ts')
  await printCompletions(
    async () => openInvocation(globals, output, await ownEnvironment()),
    createProgram(packageVersion(), async () => undefined),
    { words, output },
  )
  return 0
}

/** Takes back what a run changed for its child, for a `broker` that the child calls. */
async function ownEnvironment(): Promise<NodeJS.ProcessEnv> {
  const proxies = proxiesOfRun(process.env)
  if (proxies.length === 0) return process.env
  const { outsideOfRun } = await import('../run/index.ts')
  return await outsideOfRun(process.env, proxies)
}

function openInvocation(globals: GlobalOptions, output: Output, environment: NodeJS.ProcessEnv): Invocation {
  const config = loadConfig(environment, userFolder())
  refuseForeignHome(config.paths.home)
  const logFile = globals.logFile === undefined ? config.paths.clientLog : globals.logFile || undefined
  const log = openDebugLog({
    path: logFile,
    isDefault: globals.logFile === undefined,
    ...(globals.verbose && { show: (line: string) => void process.stderr.write(line) }),
  })
  log.write({ event: 'command', name: globals.command, version: packageVersion() })
  return {
    config,
    output,
    log,
    logFile: logFile && resolve(logFile),
    terminal: openTerminal({
      stdin: process.stdin,
      stderr: process.stderr,
      silent: globals.json === true || globals.quiet === true,
      isDumb: config.inherited['TERM'] === 'dumb',
    }),
    quiet: globals.quiet === true,
    version: packageVersion(),
    configFor: (baseUrl) => loadConfig({ ...environment, BROKER_BASE_URL: baseUrl }, userFolder()),
  }
}

function openOutput({ json, quiet, color }: Pick<GlobalOptions, 'json' | 'quiet' | 'color'>): Output {
  const { stdout, stderr } = process
  return new Output({
    json: json === true,
    quiet: quiet === true,
    color: color !== false && stdout.isTTY === true && stderr.isTTY === true && picocolors.isColorSupported,
    stdout,
    stderr,
    ...(stdout.isTTY === true && { columns: stdout.columns }),
  })
}

function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json')
}

function showStack(error: unknown, argv: readonly string[]): void {
  const isBug = !(error instanceof BrokerError)
  if (isBug && argv.includes('--verbose') && error instanceof Error) process.stderr.write(`${error.stack}\n`)
}

function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return version
}

/** `broker log | head`: the reader has what it wants. What is under way is taken back first, as by Ctrl-C. */
function endQuietlyWhenNobodyReads(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      const ending = NOBODY_READS[error.code ?? '']
      // A notice that a full disk does not take must not end what it is about: a run goes on for its command.
      if (ending === undefined && stream === process.stderr) return
      if (ending === undefined) throw error
      if (!interrupt()) process.exit(ending)
    })
  }
}

/** Exit codes: a reader that has left, and a terminal that was closed (as the signal for it would end the process). */
const NOBODY_READS: Readonly<Record<string, number>> = { EPIPE: 0, EIO: 129 }

function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()))
}
