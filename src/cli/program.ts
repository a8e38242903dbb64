import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import {
  AUDIT_EVENTS,
  AUDIT_STATUSES,
  ENCRYPTION_SOURCES,
  type EncryptionSource,
  EXPORT_FORMATS,
  FLOWS,
  nearestWord,
} from '../protocol/index.ts'
import { FROM_WORDS } from './command-words.ts'
import type { ApproveOptions } from './commands/approve.ts'
import type { BackupOptions, RestoreOptions } from './commands/backup.ts'
import type { DashboardOptions } from './commands/dashboard.ts'
import type { DoctorOptions } from './commands/doctor.ts'
import type { LogOptions } from './commands/log.ts'
import type { LogExportOptions } from './commands/log-export.ts'
import type { LoginOptions } from './commands/login.ts'
import type { OnboardOptions } from './commands/onboard.ts'
import type { ExportOptions } from './commands/provider-export.ts'
import type { NewOptions } from './commands/provider-new.ts'
import type { RegisterOptions } from './commands/provider-register.ts'
import type { UpdateOptions } from './commands/provider-update.ts'
import type { RunCommandOptions } from './commands/run.ts'
import type { WhyOptions } from './commands/why.ts'
import type { Invocation } from './invocation.ts'
import { pastTime } from './past-time.ts'
import { printableJson } from './printable.ts'

export interface GlobalOptions {
  readonly json?: boolean
  readonly quiet?: boolean
  readonly color?: boolean
  readonly verbose?: boolean
  /** Empty switches the file off. */
  readonly logFile?: string
  /** Full name of the command, for the log. */
  readonly command: string
}

/** A command with its arguments taken in; undefined is exit code 0. */
type Bound = (invocation: Invocation) => Promise<number | undefined>
export type Execute = (globals: GlobalOptions, command: Bound) => Promise<void>

type Body<Options> = (
  invocation: Invocation,
  options: Options,
  ...args: readonly string[]
) => Promise<number | undefined> | Promise<void>

const SHELLS = ['bash', 'zsh', 'fish']

/**
 * Every command with its arguments, options, help and example. What a command does is loaded only when it is called.
 * @param write takes help and version
 */
export function createProgram(
  version: string,
  execute: Execute,
  write = (text: string) => void process.stdout.write(text),
): Command {
  const program = prepared(new Command('broker'), 'broker login openai && broker run -- node agent.js')
    .configureOutput({ writeOut: write })
    .description('Use your API keys and tokens from agents, scripts and tools that never hold them.')
    .version(version, '-v, --version', 'print the version')
    .enablePositionalOptions()
  for (const option of globalOptions()) program.addOption(option)
  program.allowExcessArguments().action(() => chosenCommand(program) ?? program.outputHelp())
  const commands = new Commands(program, execute)
  defineEveryday(commands)
  defineConnections(commands)
  defineProviders(commands)
  defineAgents(commands)
  defineCopies(commands)
  defineVault(commands)
  defineStore(commands)
  defineDaemon(commands)
  defineAdmin(commands)
  defineHome(commands)
  const help = prepared(program.command('help [command...]'), 'broker help login').description(
    'print the help of a command',
  )
  for (const option of globalOptions()) help.addOption(option.hideHelp())
  help.action((words: readonly string[]) => printHelp(commandNamed(program, words), globalsOf(help)))
  return program
}

function printHelp(command: Command, { json }: GlobalOptions): void {
  let help = ''
  if (json) command.configureOutput({ writeOut: (text) => (help += text) })
  command.outputHelp()
  if (json) process.stdout.write(`${printableJson({ command: fullName(command), help })}\n`)
}

/** The help of a command as `broker help --json` has it. */
export function helpDocument(help: string): { readonly command: string; readonly help: string } {
  const [, command = 'broker'] = /^Usage: (broker(?: [a-z][a-z-]*)*)/.exec(help) ?? []
  return { command, help }
}

function defineEveryday(commands: Commands): void {
  commands
    .add(
      'onboard',
      'set this home up: agent, daemon, and the API keys found in .env files and the environment',
      'broker onboard --from gh,npm',
    )
    .option('--base-url <url>', 'daemon to use from now on', notEmpty)
    .option(
      '--from <s1,s2>',
      `read the keys that other programs keep too: a file, or ${FROM_WORDS.join(', ')}`,
      commaSeparated,
    )
    .option('--scan-only', 'report what differs between the environment and the vault, import nothing')
    .option('--overwrite', 'replace stored keys by those found')
    .does<OnboardOptions>(async (invocation, options) =>
      (await import('./commands/onboard.ts')).onboard(invocation, options),
    )
  commands
    .add(
      'login <provider>',
      'log in at a provider, given by its name or the URL of its server; a secret is typed at a prompt, piped in, or entered in the browser',
      'broker login https://mcp.example.com/mcp',
    )
    .addOption(new Option('--flow <type>', 'how to log in').choices(FLOWS))
    .option('--connection <name>', 'name of the connection', 'default')
    .option('--scopes <s1,s2>', 'what to ask for, comma-separated', commaSeparated)
    .option('--base-url <url>', 'your own address there: of a tenant, or of a server of your own', notEmpty)
    .option('--signing-key', 'with a key that signs and is never sent: of a GitHub App, a service account, AWS')
    .option('--client-credentials', 'with the id and secret of an OAuth client that acts for itself, not for a person')
    .option('--force', 'overwrite an existing connection without asking')
    .option('--new-client', 'with another OAuth app than at the login before, or registered anew')
    .option('--browser', 'open the browser in any case, and enter secrets there')
    .option('--no-browser', 'never open the browser; its address is printed')
    .does<LoginOptions>(async (invocation, options, provider = '') =>
      (await import('./commands/login.ts')).login(invocation, provider, options),
    )
  commands
    .add(
      'logout <provider>',
      'remove one connection from this vault; the provider is not contacted',
      'broker logout openai --connection work',
    )
    .option('--connection <name>', 'name of the connection', 'default')
    .does<{ readonly connection: string }>(async (invocation, { connection }, provider = '') =>
      (await import('./commands/logout.ts')).logout(invocation, provider, connection),
    )
  commands
    .add(
      'run <command...>',
      'run a command behind the injecting proxy',
      'broker run -- curl https://api.openai.com/v1/models',
    )
    .option('--connection <provider=name>', 'use this connection instead of the default (repeatable)', pairs)
    .option('--only <providers>', 'inject credentials of these providers only, comma-separated', commaSeparated)
    .option('--strict', 'refuse every host that no connected provider matches')
    .option('--browser', 'let a browser that the command starts use the proxy, with a profile of its own')
    .option(
      '--sandbox',
      'no network but the proxy, no files to write but of the folder, caches and its own temporary ones',
    )
    .option('--allow-read <path>', 'in a sandbox: read this, which it hides (repeatable)', repeated)
    .option('--allow-write <path>', 'in a sandbox: write this, too (repeatable)', repeated)
    .option('--allow-port <port>', "in a sandbox: share this port of the machine's loopback (repeatable)", ports)
    .option('--allow-net <host[:port]>', 'reach this host, also with --strict (repeatable)', hosts)
    .option('--no-shield', "do not hide what is Broker's from the command")
    .addOption(
      new Option(
        '--require-isolation [level]',
        'refuse to run the command without the shield, or without the sandbox',
      ).choices(['shield', 'sandbox']),
    )
    .passThrough('[options] -- <command...>')
    .does<RunCommandOptions>(async (invocation, options, ...command) =>
      (await import('./commands/run.ts')).run(invocation, command, options),
    )
  const log = commands
    .add('log', 'print the audit log, newest first', 'broker log -n 10 --provider openai')
    .option('-n, --count <count>', 'number of entries', entries, 50)
    .option('--raw', "print this client's debug log instead, newest last")
    .addOption(new Option('--event <event>', 'only events of this kind').choices(AUDIT_EVENTS))
    .option('--provider <provider>', 'only events of this provider')
    .option('--identity <identity>', 'only events of this agent')
    .addOption(new Option('--status <status>', 'only events that ended so').choices(AUDIT_STATUSES))
    .option('--since <time>', 'only events since then: 1h, yesterday, 2026-11-22, an ISO time', (text) =>
      pastTime(text),
    )
    .option('--until <time>', 'only events until then', (text) => pastTime(text))
    .does<LogOptions>(async (invocation, options) => (await import('./commands/log.ts')).log(invocation, options))
    .group()
  log
    .add('verify', 'look through the log for what was changed outside of Broker', 'broker log verify --since 7d')
    .option('--since <time>', 'only what came since then: 1h, yesterday, 2026-11-22, an ISO time', (text) =>
      pastTime(text),
    )
    .does<{ readonly since?: string }>(async (invocation, { since }) =>
      (await import('./commands/log-verify.ts')).verifyLog(invocation, since),
    )
  log
    .add('export', 'write the log for another program, oldest first', 'broker log export --format ocsf --follow')
    .addOption(new Option('--format <format>', 'form of the events').choices(EXPORT_FORMATS).default('jsonl'))
    .option('--follow', 'go on with what comes, until it is stopped')
    .option('--after <seq>', 'only events with a higher number (`seq`)', entryNumber)
    .addOption(new Option('--event <event>', 'only events of this kind').choices(AUDIT_EVENTS))
    .option('--provider <provider>', 'only events of this provider')
    .option('--since <time>', 'only what came since then', (text) => pastTime(text))
    .does<LogExportOptions>(async (invocation, options) =>
      (await import('./commands/log-export.ts')).exportLog(invocation, options),
    )
}

function defineConnections(commands: Commands): void {
  const connections = commands
    .add('connections', 'list and manage stored connections', 'broker connections')
    .does(async (invocation) => (await import('./commands/connections.ts')).listConnections(invocation))
    .group()
  connections
    .add('list', 'list every connection', 'broker connections list --json')
    .does(async (invocation) => (await import('./commands/connections.ts')).listConnections(invocation))
  connections
    .add('inspect <provider>', "show a provider's connections, secrets redacted", 'broker connections inspect openai')
    .does(async (invocation, _options, provider = '') =>
      (await import('./commands/connections.ts')).inspectConnections(invocation, provider),
    )
  connections
    .add(
      'approve [provider]',
      'let connections go where definitions that changed send them now',
      'broker connections approve github',
    )
    .option('--connection <name>', 'only the connection of this name')
    .option('--all', 'every connection that needs it, which is meant where no provider is named')
    .option('--yes', 'do not ask')
    .does<ApproveOptions>(async (invocation, options, provider) =>
      (await import('./commands/approve.ts')).approveConnections(invocation, provider, options),
    )
  connections
    .add(
      'set-default <provider> <connection>',
      'choose the connection used where none is named',
      'broker connections set-default openai work',
    )
    .does(async (invocation, _options, provider = '', connection = '') =>
      (await import('./commands/connections.ts')).setDefaultConnection(invocation, provider, connection),
    )
}

interface Confirmed {
  readonly yes?: boolean
}

function defineProviders(commands: Commands): void {
  const providers = commands.add('provider', 'list and manage provider definitions', 'broker provider list').group()
  providers
    .add('list', 'list every provider and how many connections it has', 'broker provider list')
    .does(async (invocation) => (await import('./commands/provider.ts')).listProviders(invocation))
  providers
    .add('inspect <provider>', 'print a definition and its connections as JSON', 'broker provider inspect openai')
    .option('--definition', 'the definition alone, as `register` takes it')
    .does<{ readonly definition?: boolean }>(async (invocation, options, provider = '') =>
      (await import('./commands/provider.ts')).inspectProvider(invocation, provider, options),
    )
  providers
    .add(
      'new <name>',
      'write the definition of a service with an API key: asks for what is not given',
      'broker provider new acme --host api.acme.example --env ACME_API_KEY',
    )
    .option('--display <text>', 'name for people')
    .option('--host <host>', 'where the credential may go (repeatable)', repeated)
    .option('--header <name>', 'header that carries the key; Authorization if absent')
    .option('--prefix <word>', 'stands before the key: Bearer, unless a header or parameter is named')
    .option('--query <name>', 'query parameter that carries the key, in place of a header')
    .option('--env <variable>', 'environment variable that programs read the key from (repeatable)', repeated)
    .option('--docs <url>', 'where one makes a key')
    .option('--out <file>', 'where to write it, - for standard output; <name>.json here if absent')
    .option('--force', 'overwrite the file')
    .does<NewOptions>(async (invocation, options, name = '') =>
      (await import('./commands/provider-new.ts')).newProvider(invocation, name, options),
    )
  providers
    .add(
      'validate <path>',
      'say all that is wrong with a definition, a folder of them, or standard input (-); needs no daemon',
      'broker provider validate ./acme.json',
    )
    .does(async (invocation, _options, path = '') =>
      (await import('./commands/provider-validate.ts')).validateProviders(invocation, path),
    )
  providers
    .add(
      'register <path>',
      'add a provider from a JSON file, all of a folder, or standard input (-)',
      'broker provider register ./acme.json',
    )
    .option('--force', 'overwrite a provider of the same name without asking')
    .option('--yes', 'do not ask; fails where the provider exists')
    .does<RegisterOptions>(async (invocation, options, path = '') =>
      (await import('./commands/provider-register.ts')).registerProvider(invocation, path, options),
    )
  providers
    .add(
      'export [providers...]',
      'print definitions, or write them into a folder, as `register` takes them elsewhere',
      'broker provider export --all-custom --out definitions',
    )
    .option('--all-custom', 'all that are not bundled')
    .option('--out <folder>', 'a file for each, in this folder')
    .option('--force', 'overwrite files')
    .does<ExportOptions>(async (invocation, options, ...names) =>
      (await import('./commands/provider-export.ts')).exportProviders(invocation, names, options),
    )
  providers
    .add(
      'update [file]',
      'use a signed catalogue of definitions between releases, from a file or standard input (-); without one, say which are in use',
      'broker provider update catalogue.json --check',
    )
    .option('--key <file>', "public key of whoever publishes it, in PEM, where it is not the project's")
    .option('--check', 'say what would change, change nothing')
    .option('--yes', 'do not ask')
    .option('--reset', 'go back to the definitions that came with this version')
    .does<UpdateOptions>(async (invocation, options, file) =>
      (await import('./commands/provider-update.ts')).updateCatalogue(invocation, file, options),
    )
  providers
    .add('revoke <provider>', 'revoke and remove all connections of a provider', 'broker provider revoke openai --yes')
    .option('--yes', 'do not ask')
    .does<Confirmed>(async (invocation, options, provider = '') =>
      (await import('./commands/provider.ts')).revokeProvider(invocation, provider, options),
    )
  providers
    .add('remove <provider>', 'remove a custom provider, or reset a bundled one', 'broker provider remove acme --yes')
    .option('--yes', 'do not ask')
    .does<Confirmed>(async (invocation, options, provider = '') =>
      (await import('./commands/provider.ts')).removeProvider(invocation, provider, options),
    )
}

function defineAgents(commands: Commands): void {
  const agents = commands
    .add('agent', 'manage the agents of this home: the keys that sign requests', 'broker agent list')
    .group()
  agents
    .add('create [name]', 'make a new agent', 'broker agent create ci-runner')
    .does(async (invocation, _options, name) => (await import('./commands/agent.ts')).createAgent(invocation, name))
  agents
    .add('use <name>', 'switch to another agent', 'broker agent use ci-runner')
    .does(async (invocation, _options, name = '') => (await import('./commands/agent.ts')).useAgent(invocation, name))
  agents
    .add('list', 'list the agents of this home', 'broker agent list')
    .does(async (invocation) => (await import('./commands/agent.ts')).listAgents(invocation))
  agents
    .add('remove <name>', 'delete an agent and its key', 'broker agent remove ci-runner --yes')
    .option('--yes', 'do not ask')
    .does<Confirmed>(async (invocation, options, name = '') =>
      (await import('./commands/agent.ts')).removeAgent(invocation, name, options),
    )
}

function defineDaemon(commands: Commands): void {
  const daemon = commands.add('daemon', 'run the daemon that holds the vault', 'broker daemon start').group()
  daemon
    .add('serve', 'run in the foreground', 'broker daemon serve')
    .does(async (invocation) => (await import('./commands/daemon.ts')).serveDaemon(invocation))
  daemon
    .add('start', 'start in the background', 'broker daemon start')
    .does(async (invocation) => (await import('./commands/daemon.ts')).startDaemonCommand(invocation))
  daemon
    .add('stop', 'stop; requests in progress are finished', 'broker daemon stop')
    .does(async (invocation) => (await import('./commands/daemon.ts')).stopDaemonCommand(invocation))
  daemon
    .add('restart', 'stop and start', 'broker daemon restart')
    .does(async (invocation) => (await import('./commands/daemon.ts')).restartDaemon(invocation))
  daemon
    .add('status', 'show whether it runs', 'broker daemon status --json')
    .does(async (invocation) => (await import('./commands/daemon.ts')).daemonStatus(invocation))
  daemon
    .add('logs', "print the daemon's log", 'broker daemon logs -f')
    .option('-n, --lines <count>', 'number of lines', positive, 50)
    .option('-f, --follow', 'wait for more')
    .does<{ readonly lines: number; readonly follow?: boolean }>(async (invocation, options) =>
      (await import('./commands/daemon-logs.ts')).daemonLogs(invocation, options),
    )
}

function defineAdmin(commands: Commands): void {
  const admin = commands
    .add(
      'admin',
      "what the operator does on the daemon's own machine, by the secret of its home",
      'broker admin reset-password ada@example.com',
    )
    .group()
  admin
    .add(
      'reset-password <email>',
      "give an account another password, typed at a prompt or piped in; the account's browsers are signed out",
      'broker admin reset-password ada@example.com',
    )
    .does(async (invocation, _options, email = '') =>
      (await import('./commands/admin.ts')).resetPassword(invocation, email),
    )
}

function defineCopies(commands: Commands): void {
  commands
    .add(
      'backup <file>',
      'write everything of this store into one encrypted file, whether the daemon runs or not',
      'broker backup broker.age --to-passphrase',
    )
    .option('--to-passphrase', 'encrypt it to a passphrase, typed at a prompt or piped in')
    .option('--recipient <age1…>', 'encrypt it to an age recipient', notEmpty)
    .option('--without-key', 'leave the master key out: keep it elsewhere')
    .does<BackupOptions>(async (invocation, options, file = '') =>
      (await import('./commands/backup.ts')).backup(invocation, file, options),
    )
  commands
    .add(
      'restore <file>',
      'put a backup in the place of this store, after saying what that takes back; the passphrase is typed or piped in',
      'broker restore broker.age',
    )
    .option('--identity <file>', 'file with the age identity, where it is encrypted to a recipient', notEmpty)
    .option('--yes', 'do not ask')
    .does<RestoreOptions>(async (invocation, options, file = '') =>
      (await import('./commands/backup.ts')).restore(invocation, file, options),
    )
}

function defineStore(commands: Commands): void {
  commands
    .add('store', 'look after where everything is kept', 'broker store migrate --to postgres')
    .group()
    .add(
      'migrate',
      'copy every row into an empty Postgres, or from there into this home; its address is BROKER_DATABASE_URL, or piped in',
      'broker store migrate --to postgres',
    )
    .addOption(new Option('--to <kind>', 'where to').choices(['postgres', 'sqlite']).makeOptionMandatory())
    .does<{ readonly to: 'postgres' | 'sqlite' }>(async (invocation, { to }) =>
      (await import('./commands/store.ts')).migrateStore(invocation, to),
    )
}

function defineVault(commands: Commands): void {
  commands
    .add('lock', 'have the daemon forget every key of the vault, until `broker unlock`', 'broker lock')
    .does(async (invocation) => (await import('./commands/vault.ts')).lock(invocation))
  commands
    .add(
      'unlock',
      'open the vault of the daemon; a passphrase is typed at a prompt or piped in, and chosen the first time',
      'broker unlock',
    )
    .does(async (invocation) => (await import('./commands/vault.ts')).unlock(invocation))
  const vault = commands.add('vault', 'look after the keys of the vault', 'broker vault status').group()
  vault
    .add('status', 'show whether the vault is open, where its key is, and how far it has come', 'broker vault status')
    .does(async (invocation) => (await import('./commands/vault.ts')).vaultStatus(invocation))
  vault
    .add('rotate', 'make a new data key and seal every record anew, while all goes on', 'broker vault rotate')
    .does(async (invocation) => (await import('./commands/vault.ts')).rotate(invocation))
  vault
    .add(
      'rekey',
      'make another master key, or keep it elsewhere; the one of before opens nothing then',
      'broker vault rekey --to passphrase',
    )
    .addOption(new Option('--to <source>', 'where it is to be').choices(ENCRYPTION_SOURCES).makeOptionMandatory())
    .does<{ readonly to: EncryptionSource }>(async (invocation, { to }) =>
      (await import('./commands/vault.ts')).rekey(invocation, to),
    )
}

function defineHome(commands: Commands): void {
  commands
    .add('whoami', 'show this home, its agent, and how the vault is encrypted', 'broker whoami')
    .does(async (invocation) => (await import('./commands/whoami.ts')).whoami(invocation))
  commands
    .add('doctor', 'check that everything works', 'broker doctor --json')
    .option(
      '--accept-restore',
      'after damage or a restored backup: take the vault as it is, give up what does not open',
    )
    .addOption(
      new Option('--isolation [level]', 'try from inside of a run what its isolation holds').choices([
        'shield',
        'sandbox',
      ]),
    )
    .does<DoctorOptions>(async (invocation, options) =>
      (await import('./commands/doctor.ts')).doctor(invocation, options),
    )
  commands
    .add(
      'why <url|host>',
      'explain what would become of a request: which provider, which connection, or what stands in the way',
      'broker why https://api.github.com/user',
    )
    .option('--method <method>', 'of the request')
    .option('--agent <name>', 'another agent of yours than the active one')
    .does<WhyOptions>(async (invocation, options, target = '') =>
      (await import('./commands/why.ts')).why(invocation, target, options),
    )
  commands
    .add('dashboard', 'open the dashboard, signed in', 'broker dashboard')
    .option('--browser', 'open the browser, wherever the command runs')
    .option('--no-browser', 'print the link and open nothing')
    .does<DashboardOptions>(async (invocation, options) =>
      (await import('./commands/dashboard.ts')).dashboard(invocation, options),
    )
  commands
    .add('completion <shell>', 'print completions for bash, zsh or fish', 'source <(broker completion bash)')
    .choice('shell', SHELLS)
    .does(async (invocation, _options, shell = '') => {
      const { completion } = await import('./commands/completion.ts')
      return completion(invocation, shell)
    })
}

/** Commands under one parent. */
class Commands {
  readonly program: Command
  readonly #execute: Execute

  constructor(program: Command, execute: Execute) {
    this.program = program
    this.#execute = execute
  }

  add(signature: string, description: string, sample: string): CommandDefinition {
    const command = prepared(this.program.command(signature), sample)
      .description(description)
      .allowExcessArguments(false)
    // Understood after the command's name as well, mentioned once in its help.
    for (const option of globalOptions()) command.addOption(option.hideHelp())
    return new CommandDefinition(command, this.#execute)
  }
}

class CommandDefinition {
  readonly #command: Command
  readonly #execute: Execute
  #isCallable = false

  constructor(command: Command, execute: Execute) {
    this.#command = command
    this.#execute = execute
  }

  option<Value>(
    flags: string,
    description: string,
    parse?: Value | ((text: string, before: Value) => Value),
    initial?: Value,
  ): this {
    if (typeof parse === 'function') this.#command.option(flags, description, parse as never, initial as never)
    else this.#command.option(flags, description, parse as string)
    return this
  }

  addOption(option: Option): this {
    this.#command.addOption(option)
    return this
  }

  choice(argument: string, values: readonly string[]): this {
    this.#command.registeredArguments.find((candidate) => candidate.name() === argument)?.choices(values)
    return this
  }

  /** Leaves to the command what follows its first word. */
  passThrough(usage: string): this {
    this.#command.passThroughOptions().usage(usage)
    return this
  }

  does<Options>(body: Body<Options>): this {
    const command = this.#command
    this.#isCallable = true
    command.action(() => {
      chosenCommand(command)
      const args = command.processedArgs.flat() as string[]
      return this.#execute(globalsOf(command), async (invocation) => {
        const code = await body(invocation, command.opts() as Options, ...args)
        return code ?? undefined
      })
    })
    return this
  }

  /** Has commands of its own; without one it does what `does` said, or tells which there are. */
  group(): Commands {
    const command = this.#command
    command.enablePositionalOptions().allowExcessArguments()
    if (!this.#isCallable) command.action(() => chosenCommand(command) ?? missingCommand(command))
    return new Commands(this.#command, this.#execute)
  }
}

const COMMAND_WORD = /^[a-z][a-z-]{0,19}$/

// Commander takes an unknown command for an argument too many where the parent can be called by itself.
function chosenCommand(command: Command): undefined {
  const [word] = command.args
  if (word === undefined || command.commands.length === 0) return undefined
  // A word is repeated only where it looks like a command: somebody may have put a secret in its place.
  const known = COMMAND_WORD.test(word) ? ` ${word}` : ' …'
  const meant = nearestWord(
    word,
    command.commands.map((child) => child.name()),
  )
  const way = meant === undefined ? '' : `; did you mean "${fullName(command)} ${meant}"?`
  throw new CommanderError(2, 'broker.unknownCommand', `There is no command "${fullName(command)}${known}"${way}`)
}

/** The command that some words name; the program itself for none. */
function commandNamed(program: Command, words: readonly string[]): Command {
  return words.reduce((parent, word) => {
    const child = parent.commands.find((one) => one.name() === word)
    if (child === undefined) parent.args = [word]
    return child ?? chosenCommand(parent) ?? parent
  }, program)
}

function missingCommand(command: Command): never {
  const names = command.commands.map((child) => child.name()).join(', ')
  throw new CommanderError(2, 'broker.missingCommand', `"${fullName(command)}" needs one of: ${names}`)
}

function prepared(command: Command, sample: string): Command {
  return command
    .exitOverride()
    .helpCommand(false)
    .helpOption('-h, --help', 'print this help')
    .configureHelp({ showGlobalOptions: true, subcommandTerm: termOf })
    .configureOutput({ writeErr: () => undefined })
    .addHelpText('after', `\nExample:\n  $ ${sample}`)
}

function termOf(command: Command): string {
  return [command.name(), ...command.registeredArguments.map((argument) => `<${argument.name()}>`)].join(' ')
}

function globalOptions(): readonly Option[] {
  return [
    new Option('--json', 'print JSON'),
    new Option('--quiet', 'print the data only'),
    new Option('--no-color', 'print without colors'),
    new Option('--verbose', 'print debug lines on standard error'),
    new Option('--log-file <path>', 'debug log of this client; an empty path switches it off'),
  ]
}

// Commander would let the parent's default win over what was given after the command's name.
function globalsOf(command: Command): GlobalOptions {
  const levels = lineage(command).map((level) => level.opts<GlobalOptions>())
  const logFile = levels.map((options) => options.logFile).find((path) => path !== undefined)
  return {
    json: levels.some(({ json }) => json),
    quiet: levels.some(({ quiet }) => quiet),
    color: levels.every(({ color }) => color !== false),
    verbose: levels.some(({ verbose }) => verbose),
    ...(logFile !== undefined && { logFile }),
    command: fullName(command),
  }
}

function fullName(command: Command): string {
  return lineage(command)
    .map((level) => level.name())
    .reverse()
    .join(' ')
}

function lineage(command: Command): readonly Command[] {
  return command.parent ? [command, ...lineage(command.parent)] : [command]
}

/** An option whose variable is not set in a script must not count as absent. */
function notEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It is empty.')
  return text
}

function commaSeparated(text: string): readonly string[] {
  const items = text.split(',').map((item) => item.trim())
  if (items.some((item) => item === '')) throw new InvalidArgumentError('It has an empty item.')
  return items
}

function repeated(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

function pairs(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, provider, connection] = /^([^=]+)=(.+)$/.exec(text) ?? []
  if (!provider || !connection) throw new InvalidArgumentError('Write it as provider=connection.')
  return { ...before, [provider]: connection }
}

const MOST = 999_999

function ports(text: string, before: readonly number[] = []): readonly number[] {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) throw new InvalidArgumentError('It must be a port, 1 to 65535.')
  return [...before, port]
}

interface NamedHost {
  readonly host: string
  readonly port?: number
}

function hosts(text: string, before: readonly NamedHost[] = []): readonly NamedHost[] {
  const [, host, port] = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/i.exec(text) ?? []
  if (!host || Number(port ?? 443) > 65_535 || port === '0') {
    throw new InvalidArgumentError('Write it as host or host:port.')
  }
  const name = host.toLowerCase().replace(/^\[|\]$|\.$/g, '')
  return [...before, { host: name, ...(port !== undefined && { port: Number(port) }) }]
}

function positive(text: string): number {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (number < 1) throw new InvalidArgumentError(`It must be a whole number from 1 to ${MOST}.`)
  return number
}

function entryNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be the number of an event (`seq`), or 0.')
}

function entries(text: string): number {
  if (!/^\d{7,}$/.test(text)) return positive(text)
  throw new InvalidArgumentError(
    `It must be at most ${MOST}; for what is older, call again with \`--until <time of the last entry>\`.`,
  )
}
