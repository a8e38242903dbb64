import type { DaemonClient } from '../client/index.ts'
import { BrokerError, DEFAULT_CONNECTION, DEFAULT_PLACEHOLDER, type Secret } from '../protocol/index.ts'
import type { ProviderDefinition, ProviderList } from '../schemas/index.ts'
import type { FoundVariable } from './environment-files.ts'
import type { FoundKey } from './key-sources.ts'

/** One variable of one provider, and how the environment and the vault compare (contract section 12). */
export interface ImportResult {
  readonly provider: string
  /** The provider's preferred variable where the key was in none. */
  readonly env_var: string
  readonly source: string
  readonly status: 'imported' | 'unchanged' | 'different' | 'only_in_vault' | 'missing'
}

export type ImportMode = 'scan_only' | 'import' | 'overwrite'

/** A provider whose key can be found in the environment or in a file of another program. */
export interface KeyProvider {
  readonly name: string
  /** Variables that hold the key, the preferred one first. */
  readonly variables: readonly string[]
  /** Whole hosts that no provider before it takes keys at; none of a custom one, which may name hosts of its own beside. */
  readonly hosts: readonly string[]
  /** The field of the login form that takes it. */
  readonly field: string
  readonly placeholder: string
}

/** Asks for each definition; a variable that several claim goes to a bundled one, so that a custom one cannot take it over. */
export async function keyProviders(
  client: DaemonClient,
  { bundled, custom }: ProviderList,
): Promise<readonly KeyProvider[]> {
  const names = [...bundled, ...custom].map(({ name }) => name)
  const definitions = await Promise.all(names.map((name) => client.provider(name)))
  const isCustom = new Set(custom.map(({ name }) => name))
  const taken = new Set<string>()
  return definitions.flatMap((definition) => {
    const provider = keyProvider(definition, isCustom.has(definition.name) ? 'custom' : 'bundled', taken)
    for (const name of [...(provider?.variables ?? []), ...(provider?.hosts ?? [])]) taken.add(name)
    return provider ? [provider] : []
  })
}

function keyProvider(
  definition: ProviderDefinition,
  from: 'bundled' | 'custom',
  taken: ReadonlySet<string>,
): KeyProvider | undefined {
  const { name, env = {}, api_key, base_url, placeholder = DEFAULT_PLACEHOLDER } = definition
  const variables = Object.keys(env).filter((variable) => env[variable] === 'credential' && !taken.has(variable))
  const hosts = from === 'custom' ? [] : definition.hosts.filter((host) => !/[*:/]/.test(host) && !taken.has(host))
  const required = (api_key?.fields ?? [{ name: 'api_key', required: true }]).filter((field) => field.required)
  const [field] = required
  // A key alone is not enough where more has to be known: `login` asks for it.
  if (!api_key || !field || required.length > 1 || base_url !== undefined || variables.length === 0) return undefined
  return { name, variables, hosts, field: field.name, placeholder }
}

export interface ImportOptions {
  readonly client: DaemonClient
  readonly mode: ImportMode
  readonly found: ReadonlyMap<string, FoundVariable>
  /** What other programs keep; a variable goes before it. */
  readonly keys: readonly FoundKey[]
  /** Providers that have a connection `default`. */
  readonly connected: ReadonlySet<string>
  readonly warn: (message: string) => void
}

/**
 * Compares and imports what was found for one provider; empty where neither side has anything. The first key that the
 * vault has taken is not overwritten by the next.
 */
export async function importKeys(provider: KeyProvider, options: ImportOptions): Promise<readonly ImportResult[]> {
  const results: ImportResult[] = []
  let { mode } = options
  let isConnected = options.connected.has(provider.name)
  for (const found of candidates(provider, options)) {
    const status = await importKey(provider, found, isConnected, { ...options, mode })
    if (status === 'imported') isConnected = true
    if (mode === 'overwrite' && (status === 'imported' || status === 'unchanged')) mode = 'import'
    results.push({ provider: provider.name, env_var: found.name, source: found.source, status })
  }
  if (results.length > 0 || !isConnected) return results
  return [{ provider: provider.name, env_var: preferred(provider), source: 'vault', status: 'only_in_vault' }]
}

function candidates(provider: KeyProvider, { found, keys }: ImportOptions): readonly FoundVariable[] {
  const variables = provider.variables.flatMap((variable) => found.get(variable) ?? [])
  const elsewhere = keys
    .filter(({ host }) => provider.hosts.includes(host))
    .map(({ source, value }) => ({ name: preferred(provider), source, value }))
  return [...variables, ...elsewhere].filter(({ value }) => !isPlaceholder(value, provider))
}

function preferred({ variables }: KeyProvider): string {
  return variables[0] ?? ''
}

// What `broker run` put there is not a key.
function isPlaceholder(value: Secret, { placeholder }: KeyProvider): boolean {
  return [placeholder, DEFAULT_PLACEHOLDER].includes(value.reveal())
}

async function importKey(
  provider: KeyProvider,
  found: FoundVariable,
  isConnected: boolean,
  { client, mode, warn }: ImportOptions,
): Promise<ImportResult['status']> {
  const input = { [provider.field]: found.value }
  try {
    if (isConnected) {
      if (await client.isSameCredential(provider.name, DEFAULT_CONNECTION, input)) return 'unchanged'
      if (mode !== 'overwrite') return 'different'
    }
    if (mode === 'scan_only') return 'missing'
    const session = await client.startAuthSession({
      provider: provider.name,
      flow: 'api_key',
      force: isConnected,
      source: 'onboard',
    })
    const { status } = await client.resumeAuthSession(session.id, input)
    if (status === 'completed') return 'imported'
    warn(`${found.name} in ${found.source} was not imported: the login to ${provider.name} is ${status}`)
  } catch (error) {
    if (!(error instanceof BrokerError) || error.name !== 'InvalidRequestError') throw error
    warn(`${found.name} in ${found.source} was not imported: it does not look like a key of ${provider.name}`)
  }
  return isConnected ? 'different' : 'missing'
}
