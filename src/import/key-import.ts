import type { DaemonClient } from '../client/index.ts'
import {
  BrokerError,
  DEFAULT_CONNECTION,
  DEFAULT_PLACEHOLDER,
  type Secret,
  type SecretInput,
} from '../protocol/index.ts'
import type { Connection, StartAuthSession } from '../schemas/index.ts'
import { ENVIRONMENT, type FoundVariable, placeOf } from './environment-files.ts'
import { otherOwnerOf } from './key-owner.ts'
import { type KeyProvider, keyField } from './key-providers.ts'
import type { FoundKey } from './key-sources.ts'
import { type NoKey, whyNoKey } from './no-key.ts'
import { type OtherPlace, otherPlaceOf } from './other-place.ts'

/** One variable of one provider, and how the environment and the vault compare (contract section 12). */
export interface ImportResult {
  readonly provider: string
  /** Where it is not the default one. */
  readonly connection?: string
  /** The provider's preferred variable where the key was in none, or the field where it has none. */
  readonly env_var: string
  readonly source: string
  readonly status: 'imported' | 'unchanged' | 'different' | 'only_in_vault' | 'missing' | 'skipped'
  /** Why it was skipped: it is no key, or not for this provider. */
  readonly reason?: NoKey['reason'] | 'other_place' | 'other_provider'
  /** What has to be there too before it can be imported: variables, or in words where there is none for it. */
  readonly needs?: readonly string[]
  /** The provider's definition turned it down: it is no key, or no address, of this provider. */
  readonly refused?: true
}

export type ImportMode = 'scan_only' | 'import' | 'overwrite'

export interface ImportOptions {
  readonly client: DaemonClient
  readonly mode: ImportMode
  /** All that there are. */
  readonly providers: readonly KeyProvider[]
  readonly found: ReadonlyMap<string, FoundVariable>
  /** Variables that are there and cannot be read, with the place of each. */
  readonly unread: ReadonlyMap<string, string>
  /** What other programs keep; a variable goes before it. */
  readonly keys: readonly FoundKey[]
  readonly connections: readonly Connection[]
  readonly warn: (message: string) => void
}

/** What was found for one connection of one provider: enough for a login, or not. */
interface Candidate {
  readonly connection: string
  /** By part. */
  readonly values: ReadonlyMap<string, FoundVariable>
  /** Those of `values` that it is told by: the others were told of with the candidate before. */
  readonly told: readonly FoundVariable[]
}

/**
 * Compares and imports what was found for one provider; empty where neither side has anything. The first credential
 * that the vault has taken is not overwritten by the next.
 */
export async function importKeys(provider: KeyProvider, options: ImportOptions): Promise<readonly ImportResult[]> {
  const results: ImportResult[] = []
  const skipped: ImportResult[] = []
  const stored = new Map(
    options.connections.filter((one) => one.provider === provider.name).map((one) => [one.connection, one.base_url]),
  )
  const settled = new Set<string>()
  const planned = new Map<string, SecretInput>()
  const skip: Skip = (variable, reason, why) => {
    const { name, source } = variable
    options.warn(`${name} in ${placeOf(variable)} was not used: ${why}`)
    skipped.push({ provider: provider.name, env_var: name, source, status: 'skipped', reason })
  }
  for (const candidate of candidatesOf(provider, options, skip)) {
    const { connection, told } = candidate
    const mode = options.mode === 'overwrite' && settled.has(connection) ? 'import' : options.mode
    const { status, ...why } = await importCandidate(provider, candidate, { stored, planned }, { ...options, mode })
    const wouldBe = status === 'missing' && mode === 'scan_only' && !why.needs && !why.refused
    if (wouldBe) planned.set(connection, inputOf(provider, candidate))
    if (status === 'imported' || wouldBe) stored.set(connection, baseUrlOf(provider, candidate))
    if (status === 'imported' || status === 'unchanged') settled.add(connection)
    for (const { name, source } of told) {
      results.push({
        provider: provider.name,
        ...(connection !== DEFAULT_CONNECTION && { connection }),
        env_var: name,
        source,
        status,
        ...why,
      })
    }
  }
  const variable = preferred(provider)
  if (results.length > 0 || !stored.has(DEFAULT_CONNECTION) || variable === undefined) return [...results, ...skipped]
  return [{ provider: provider.name, env_var: variable, source: 'vault', status: 'only_in_vault' }, ...skipped]
}

/** Hears of what was found and is not used. */
type Skip = (variable: FoundVariable, reason: NonNullable<ImportResult['reason']>, why: string) => void

function candidatesOf(provider: KeyProvider, options: ImportOptions, skip: Skip): readonly Candidate[] {
  const ofFiles = options.keys
    .filter(({ owner }) => isOf(owner, provider))
    .map((key) => fromFile(provider, key, options, skip))
  return [...fromVariables(provider, options, skip), ...ofFiles].filter(({ told }) => told.length > 0)
}

/** Returns whether a key of a file is for this provider. */
export function isOf(owner: FoundKey['owner'], { name, hosts, registries }: KeyProvider): boolean {
  if ('provider' in owner) return owner.provider === name
  return 'registry' in owner ? registries.has(owner.registry) : hosts.has(owner.host)
}

/** The first value of each part together; each further one in the place of the first. */
function fromVariables(provider: KeyProvider, options: ImportOptions, skip: Skip): readonly Candidate[] {
  const held = provider.variables.flatMap(({ name, part }) => {
    const variable = options.found.get(name)
    return variable && mayBeUsed({ part, variable }, provider, options, skip) ? [{ part, variable }] : []
  })
  const all = withoutForeignAddress(provider, held, options.warn)
  // An account's name or address alone is no credential.
  if (!all.some(({ part }) => isSecret(part, provider))) return []
  const first = new Map(all.toReversed().map(({ part, variable }) => [part, variable]))
  const further = all.filter(({ part, variable }) => first.get(part) !== variable)
  return [
    {
      connection: DEFAULT_CONNECTION,
      values: first,
      told: all.flatMap(({ part, variable }) => (first.get(part) === variable ? [variable] : [])),
    },
    ...further.map(({ part, variable }) => ({
      connection: DEFAULT_CONNECTION,
      values: new Map([...first, [part, variable]]),
      told: [variable],
    })),
  ]
}

/** Says so where the key of a variable is none, or is for another place than the provider's. */
function mayBeUsed({ part, variable }: Held, provider: KeyProvider, options: ImportOptions, skip: Skip): boolean {
  if (isPlaceholder(variable.value, provider)) return false
  if (!isSecret(part, provider)) return true
  const problem = whyNoKey(variable.value)
  const elsewhere = problem === undefined ? otherPlaceOf(provider, variable.name, options) : undefined
  if (problem !== undefined) skip(variable, problem.reason, `it ${problem.why}`)
  if (elsewhere) skip(variable, 'other_place', forAnother(provider, elsewhere, options))
  return problem === undefined && elsewhere === undefined && isOwn({ part, variable }, provider, options, skip)
}

/** Nobody gets the key of somebody else by a name that it stands under. */
function isOwn({ part, variable }: Held, provider: KeyProvider, { providers }: ImportOptions, skip: Skip): boolean {
  if (part !== keyField(provider.fields)) return true
  const owner = otherOwnerOf(variable.value, provider, providers)
  if (owner === undefined) return true
  skip(variable, 'other_provider', `it begins as the keys of ${owner} do (\`broker login ${owner}\` stores it there)`)
  return false
}

function forAnother(provider: KeyProvider, place: OtherPlace, { connections }: ImportOptions): string {
  const { name, baseUrl, selfHosted } = provider
  const { says, source, host } = place
  if (host === undefined) return `${says} in ${source} says where it is for, and cannot be read`
  const isTaken = connections.some((one) => one.provider === name && one.connection === DEFAULT_CONNECTION)
  const login = `\`broker login ${name} --base-url ${(selfHosted && place.address) || '…'}${isTaken ? ' --connection <name>' : ''}\``
  const way = baseUrl === undefined && !selfHosted ? 'define it with `broker provider register`' : login
  return `${says} in ${source} says that it is for ${host}, which is no host of ${name} (${way})`
}

interface Held {
  readonly part: string
  readonly variable: FoundVariable
}

/** A file may be somebody else's, as those that are committed are: it does not say where the key of another goes. */
function withoutForeignAddress(
  provider: KeyProvider,
  held: readonly Held[],
  warn: ImportOptions['warn'],
): readonly Held[] {
  const keys = held.filter(({ part }) => isSecret(part, provider))
  const foreignTo = ({ part, variable }: Held) =>
    isAddress(part, provider) && variable.source !== ENVIRONMENT
      ? keys.find((key) => key.variable.source !== variable.source)
      : undefined
  for (const one of held) {
    const key = foreignTo(one)?.variable
    if (!key) continue
    const from = key.source === ENVIRONMENT ? 'of the environment' : `in ${placeOf(key)}`
    warn(`${inWords([one.variable])} not used: a file does not say where ${key.name} ${from} goes; set both there`)
  }
  return held.filter((one) => foreignTo(one) === undefined)
}

function isAddress(part: string, { baseUrl = '' }: KeyProvider): boolean {
  return part === 'base_url' || part === tenantOf(baseUrl)
}

function fromFile(
  provider: KeyProvider,
  { source, connection = DEFAULT_CONNECTION, values }: FoundKey,
  options: ImportOptions,
  skip: Skip,
): Candidate {
  const parts = Object.entries(values).filter(
    ([part, value]) => provider.fields.some(({ name }) => name === part) && !isPlaceholder(value, provider),
  )
  const all = parts.map(
    ([part, value]): Held => ({
      part,
      variable: {
        name: variableOf(provider, part) ?? part,
        source,
        value,
        ...(connection !== DEFAULT_CONNECTION && { of: `"${connection}"` }),
      },
    }),
  )
  const found = all.filter(({ part, variable }) => {
    const problem = isSecret(part, provider) ? whyNoKey(variable.value) : undefined
    if (problem) skip(variable, problem.reason, `it ${problem.why}`)
    return problem === undefined && isOwn({ part, variable }, provider, options, skip)
  })
  return {
    connection,
    values: new Map(found.map(({ part, variable }) => [part, variable])),
    told: found.flatMap(({ part, variable }) => (isSecret(part, provider) ? [variable] : [])),
  }
}

function variableOf({ variables }: KeyProvider, part: string): string | undefined {
  return variables.find((variable) => variable.part === part)?.name
}

function isSecret(part: string, { fields }: KeyProvider): boolean {
  return fields.some(({ name, secret }) => secret && name === part)
}

function preferred(provider: KeyProvider): string | undefined {
  return provider.variables.find(({ part }) => isSecret(part, provider))?.name
}

// What `broker run` put there is not a key.
function isPlaceholder(value: Secret, { placeholder }: KeyProvider): boolean {
  return [placeholder, DEFAULT_PLACEHOLDER].includes(value.reveal())
}

interface Stored {
  /** By connection its address. */
  readonly stored: ReadonlyMap<string, string | undefined>
  /** What an import would have stored before. */
  readonly planned: ReadonlyMap<string, SecretInput>
}

async function importCandidate(
  provider: KeyProvider,
  candidate: Candidate,
  { stored, planned }: Stored,
  options: ImportOptions,
): Promise<Pick<ImportResult, 'status' | 'needs' | 'refused'>> {
  const { client, mode, warn } = options
  const { connection } = candidate
  const isStored = stored.has(connection)
  const otherwise = isStored ? 'different' : 'missing'
  const needs = needsOf(provider, candidate)
  if (needs.length > 0) return { status: otherwise, needs }
  const baseUrl = baseUrlOf(provider, candidate)
  const input = inputOf(provider, candidate)
  const login: StartAuthSession = {
    provider: provider.name,
    connection,
    flow: 'api_key',
    force: isStored,
    source: 'onboard',
    ...(baseUrl !== undefined && { base_url: baseUrl }),
  }
  try {
    if (isStored) {
      const isSameUrl = baseUrl === undefined || baseUrl === stored.get(connection)
      const before = planned.get(connection)
      const isSame = () =>
        before ? wouldBeSame(client, login, [before, input]) : client.isSameCredential(provider.name, connection, input)
      if (isSameUrl && (await isSame())) return { status: 'unchanged' }
      if (mode !== 'overwrite') return { status: 'different' }
    }
    if (mode === 'scan_only') {
      const { warnings } = await client.checkAuthSession(login, input)
      if (warnings.length > 0) warn(`${toBe(candidate.told)} imported, though unlike the keys of ${provider.name}`)
      return { status: 'missing' }
    }
    const session = await client.startAuthSession(login)
    const { status, warnings = [] } = await client.resumeAuthSession(session.id, input)
    if (warnings.length > 0) warn(`${inWords(candidate.told)} imported, though unlike the keys of ${provider.name}`)
    if (status === 'completed') return { status: 'imported' }
    warn(`${inWords(candidate.told)} not imported: the login to ${provider.name} is ${status}`)
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    if (NOT_TAKEN.has(error.name)) {
      warn(`${inWords(candidate.told)} not imported: ${error.message}`)
      return { status: otherwise }
    }
    if (error.name !== 'InvalidRequestError') throw error
    warn(refusal(provider, candidate, error))
    return { status: otherwise, refused: true }
  }
  return { status: otherwise }
}

/** @throws BrokerError InvalidRequestError where the second could be no credential, as a comparison with a stored one does */
async function wouldBeSame(
  client: DaemonClient,
  login: StartAuthSession,
  [before, now]: readonly [SecretInput, SecretInput],
): Promise<boolean> {
  await client.checkAuthSession(login, now)
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])]
  return names.every((name) => {
    const [one, other] = [before[name], now[name]]
    return one !== undefined && other !== undefined && one.equals(other)
  })
}

/** The provider was asked, and did not take it, or did not answer. The next key is another's. */
const NOT_TAKEN: ReadonlySet<string> = new Set(['AuthenticationFailedError', 'EndpointUnreachableError'])

/** Variables that are not there, or what they would hold. */
function needsOf(provider: KeyProvider, candidate: Candidate): readonly string[] {
  const { fields, needsBaseUrl, baseUrl = '' } = provider
  const missing = fields.filter(({ name, required }) => required && !candidate.values.has(name))
  const isAddressMissing = needsBaseUrl && baseUrlOf(provider, candidate) === undefined
  const address = variableOf(provider, 'base_url') ?? variableOf(provider, tenantOf(baseUrl) ?? '')
  return [
    ...new Set([
      ...missing.map(({ name, label }) => variableOf(provider, name) ?? label),
      ...(isAddressMissing ? [address ?? 'its address (--base-url)'] : []),
    ]),
  ]
}

function tenantOf(baseUrl: string): string | undefined {
  return /\{(\w+)\}/.exec(baseUrl)?.[1]
}

/** The address as a connection has it: what was found, with or without its scheme, or made of the tenant's name. */
function baseUrlOf({ baseUrl: template = '' }: KeyProvider, { values }: Candidate): string | undefined {
  const tenant = tenantOf(template)
  const name = tenant === undefined ? undefined : values.get(tenant)?.value.reveal()
  const made = name === undefined ? undefined : template.replace(`{${tenant}}`, () => name)
  const text = values.get('base_url')?.value.reveal() ?? made
  if (text === undefined) return undefined
  const address = /^https?:\/\//.test(text) ? text : `https://${text}`
  // The daemon says what is wrong with one that is none.
  return URL.parse(address)?.href.replace(/\/$/, '') ?? address
}

function inputOf({ fields }: KeyProvider, { values }: Candidate): SecretInput {
  return Object.fromEntries(
    fields.flatMap(({ name }) => {
      const found = values.get(name)
      return found ? [[name, found.value]] : []
    }),
  )
}

/** Names the variables that the daemon turned down, never what is in them. */
function refusal(provider: KeyProvider, candidate: Candidate, { options: { details = [] } }: BrokerError): string {
  const { values, told } = candidate
  if (details.some(({ path }) => path === 'base_url')) {
    const address = values.get('base_url') ?? values.get(tenantOf(provider.baseUrl ?? '') ?? '')
    return `${inWords(address ? [address] : told)} not used: it gives no address like ${provider.baseUrl}`
  }
  const turnedDown = details.flatMap(({ path }) => values.get(path.replace(/^input\./, '')) ?? [])
  const variables = turnedDown.length > 0 ? turnedDown : told
  return `${inWords(variables)} not imported: ${variables.length > 1 ? 'they do not look like keys' : 'it does not look like a key'} of ${provider.name}`
}

function inWords(variables: readonly FoundVariable[]): string {
  return `${namesOf(variables)} ${variables.length > 1 ? 'were' : 'was'}`
}

function toBe(variables: readonly FoundVariable[]): string {
  return `${namesOf(variables)} would be`
}

function namesOf(variables: readonly FoundVariable[]): string {
  return variables.map((one) => `${one.name} in ${placeOf(one)}`).join(' and ')
}
