import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { DaemonClient } from '../../client/index.ts'
import { type Config, parseBaseUrl, readClientConfig, userFolder, writeClientConfig } from '../../config/index.ts'
import { claimCode } from '../../identity/index.ts'
import {
  type Around,
  type FoundVariables,
  findKeys,
  findVariables,
  type ImportMode,
  type ImportResult,
  importKeys,
  isOf,
  keyProviders,
  type NamedSources,
  placeVariablesOf,
  sourcesNamed,
} from '../../import/index.ts'
import { BrokerError } from '../../protocol/index.ts'
import type { Registration } from '../../schemas/index.ts'
import { defaultHandle } from '../default-handle.ts'
import { interruption } from '../interruption.ts'
import type { Invocation } from '../invocation.ts'
import { ensureDaemon } from '../own-daemon.ts'
import { cancelled, unlessInterrupted } from '../prompt.ts'
import { createAgentKey, register } from '../registration.ts'
import { activeHandle, asAgent, connect, proveDaemon, signerOf } from '../session.ts'

export interface OnboardOptions {
  readonly baseUrl?: string
  readonly from?: readonly string[]
  readonly scanOnly?: boolean
  readonly overwrite?: boolean
}

const LOOK_AGAIN = 1_000

/** First-run setup; run again it changes only what has changed. */
export async function onboard(before: Invocation, options: OnboardOptions): Promise<void> {
  refuseQuiet(before)
  const sources = sourcesNamed(options.from ?? [], around(before))
  const invocation = options.baseUrl === undefined ? before : await switchDaemon(before, options.baseUrl)
  const { config, output } = invocation
  const handle = ensureAgent(invocation)
  const how = await ensureDaemon(config, invocation.log)
  if (how === 'started') output.done(`Started the daemon at ${config.baseUrl}`)
  const did = signerOf(config, handle).key.did
  const { registered, results, unknown } = await asAgent(invocation, async (client) => ({
    registered: await ensureClaimed(invocation, client, handle),
    ...(await scan(invocation, client, { mode: modeOf(options), sources })),
  }))
  const imported = [...new Set(results.filter(({ status }) => status === 'imported').map(({ provider }) => provider))]
  const document = {
    status: 'onboarded',
    home: config.paths.home,
    identity: registered.identity,
    did,
    daemon_base_url: config.baseUrl,
    imported,
    results,
    unknown: unknown.map(({ name, source }) => ({ env_var: name, source })),
  }
  output.result(document, () => report(invocation, handle, { results, unknown }, modeOf(options)))
}

function refuseQuiet({ quiet }: Invocation): void {
  if (quiet) throw new BrokerError('InvalidRequestError', '`onboard` does not support --quiet: what it says matters')
}

function modeOf({ scanOnly, overwrite }: OnboardOptions): ImportMode {
  if (scanOnly) return 'scan_only'
  return overwrite ? 'overwrite' : 'import'
}

/** Remembers another daemon once it has proven itself; one that changed its key is trusted again only if a person says so. */
async function switchDaemon(before: Invocation, url: string): Promise<Invocation> {
  const baseUrl = parseBaseUrl('--base-url', url)
  const invocation = { ...before, config: before.configFor(baseUrl) }
  if (!invocation.config.baseUrlIsOwn) await pin(invocation)
  writeClientConfig(invocation.config.paths, { daemon_base_url: baseUrl })
  return invocation
}

async function pin({ config, log, terminal }: Invocation): Promise<void> {
  try {
    await proveDaemon(config, log)
  } catch (error) {
    if (!isPinned(config) || !terminal.canAsk || !(await isReachable(config, log))) throw error
    const question = `The daemon at ${config.baseUrl} has another key than the one known. Trust it from now on?`
    if (!(await terminal.confirm(question))) throw cancelled()
    writeClientConfig(config.paths, { daemon_did: undefined, pinned_base_url: undefined })
    await proveDaemon(config, log)
  }
}

async function isReachable(config: Config, log: Invocation['log']): Promise<boolean> {
  const client = connect(config, log)
  try {
    return (await client.health()).status === 'ok'
  } catch {
    return false
  } finally {
    client.close()
  }
}

function isPinned({ paths, baseUrl }: Config): boolean {
  return readClientConfig(paths).pinned_base_url === baseUrl
}

function ensureAgent({ config, output }: Invocation): string {
  const active = activeHandle(config)
  if (active !== undefined) return active
  // At a daemon of many people, somebody's machine has the same name.
  const handle = config.baseUrlIsOwn
    ? defaultHandle()
    : `${defaultHandle().slice(0, 59)}-${randomBytes(2).toString('hex')}`
  createAgentKey(config, handle)
  writeClientConfig(config.paths, { active_identity: handle })
  output.done(`Created agent "${handle}"`)
  return handle
}

async function ensureClaimed(invocation: Invocation, client: DaemonClient, handle: string): Promise<Registration> {
  const registration = await register(invocation.config, client)
  if (registration.status === 'claimed') return registration
  return waitForClaim(invocation, client, handle, registration)
}

async function waitForClaim(
  { output, terminal }: Invocation,
  client: DaemonClient,
  handle: string,
  registration: Registration,
): Promise<Registration> {
  const { claim_url, expires_at } = registration
  const code = claim_url && claimCode(claim_url.split('/').at(-1) ?? '', registration.did)
  const notClaimed = new BrokerError(
    'IdentityNotClaimedError',
    `The agent "${handle}" is not claimed by an account yet`,
    {
      hint: 'Confirm it there if the page shows the same code, then run `broker onboard` again.',
      ...(claim_url && { claimUrl: claim_url }),
      ...(code && { claimCode: code }),
    },
  )
  if (!terminal.canAsk || !claim_url || !code) throw notClaimed
  output.todo(['Confirm this agent in your browser:', claim_url], ['The page must show this code:', code])
  const interrupted = interruption()
  const spinner = terminal.spin('Waiting for the confirmation (Ctrl-C to cancel)')
  try {
    while (expires_at === undefined || Date.now() < Date.parse(expires_at)) {
      await unlessInterrupted(interrupted.signal, delay(LOOK_AGAIN))
      if ((await client.identity(handle)).status === 'claimed') return { ...registration, status: 'claimed' }
    }
  } finally {
    interrupted.stop()
    spinner.stop()
  }
  throw notClaimed
}

interface ScanOptions {
  readonly mode: ImportMode
  /** Read beside the environment. */
  readonly sources: NamedSources
}

interface Scanned {
  readonly results: readonly ImportResult[]
  /** Variables that look like secrets, and that no definition has. */
  readonly unknown: FoundVariables['others']
}

async function scan(
  { config, output }: Invocation,
  client: DaemonClient,
  { mode, sources }: ScanOptions,
): Promise<Scanned> {
  const [list, connections] = await Promise.all([client.providersWithKeys(), client.connections()])
  const providers = keyProviders(list)
  const variables = providers.flatMap(({ variables }) => variables.map(({ name }) => name))
  const names = new Set([...variables, ...variables.flatMap(placeVariablesOf)])
  const warn = (text: string) => output.warn(text)
  for (const name of sources.nowhere) output.note(`Nothing of ${name} was found here`)
  const { environment, home, folder } = around({ config })
  const { found, unread, others } = findVariables(names, { environment, folder, files: sources.files, warn })
  const keys = findKeys(sources.programs, {
    environment,
    home,
    isKnown: (owner) => providers.some((provider) => isOf(owner, provider)),
    warn,
    note: (text) => output.note(text),
  })
  const results: ImportResult[] = []
  for (const provider of providers) {
    results.push(...(await importKeys(provider, { client, mode, providers, found, unread, keys, connections, warn })))
  }
  return { results, unknown: others }
}

function around({ config }: Pick<Invocation, 'config'>): Around {
  return { environment: config.inherited, home: userFolder(), folder: process.cwd() }
}

function report({ config, output }: Invocation, handle: string, { results, unknown }: Scanned, mode: ImportMode): void {
  // Each that was skipped has had its warning.
  const told = results.filter(({ status }) => status !== 'skipped')
  if (told.length > 0) {
    output.table(
      ['PROVIDER', 'VARIABLE', 'FOUND IN', 'STATUS'],
      told.map((result) => [nameOf(result), result.env_var, result.source, statusInWords(result)]),
      { shorten: ['FOUND IN', 'STATUS'] },
    )
  }
  output.done(`"${handle}" is set up at ${config.baseUrl}`)
  if (unknown.length > 0) output.note(unknownInWords(unknown))
  if (told.length === 0) output.note('No API keys were found here. Store one with `broker login <provider>`.')
  const usable = new Set(results.flatMap(({ status, needs, refused }) => (needs || refused ? [] : [status])))
  if (usable.has('different')) {
    output.note('Keys that differ were left alone; `broker onboard --overwrite` takes those found.')
  }
  if (mode === 'scan_only' && usable.has('missing')) {
    output.note('Nothing was imported; `broker onboard` imports what is not stored yet.')
  }
  if (results.some(({ status }) => status === 'imported')) {
    output.note(
      'The imported keys can leave your files and your environment now. Use them with `broker run -- <command>`.',
    )
  }
}

function unknownInWords(unknown: Scanned['unknown']): string {
  const names = unknown.slice(0, MOST_NAMED).map(({ name, source }) => `${name} in ${source}`)
  const more = unknown.length > MOST_NAMED ? ` and ${unknown.length - MOST_NAMED} more` : ''
  return `These look like secrets that no provider has: ${names.join(', ')}${more}. Define one: \`broker provider new <name>\`.`
}

const MOST_NAMED = 20

function nameOf({ provider, connection }: ImportResult): string {
  return connection === undefined ? provider : `${provider} (${connection})`
}

const STATUS_IN_WORDS: Readonly<Record<ImportResult['status'], string>> = {
  imported: 'imported',
  unchanged: 'stored already',
  different: 'another one is stored',
  only_in_vault: 'stored, not found here',
  missing: 'not stored yet',
  skipped: 'skipped',
}

function statusInWords({ status, needs, refused }: ImportResult): string {
  if (needs) return `needs ${needs.join(' and ')} too`
  return refused ? 'does not look like one' : STATUS_IN_WORDS[status]
}
