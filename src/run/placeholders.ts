import { DEFAULT_PLACEHOLDER } from '../protocol/index.ts'
import type { Connection, ConnectionDetail, ProviderDefinition } from '../schemas/index.ts'

/** A provider whose credential this run may use. */
export interface Connected {
  readonly definition: ProviderDefinition
  /** Undefined where the record is not visible; then what is not a secret is left to the user. */
  readonly connection: Connection | ConnectionDetail | undefined
}

const TENANT = /\{(\w+)\}/

/**
 * Returns what stands in the variables where a connected provider's clients look for its key (contract section 9), and in those
 * for what belongs to the key but is no secret: that itself. A provider without a connection gets none: it would shadow
 * a key the user really set.
 */
export function placeholdersOf(connected: readonly Connected[], inherited: Environment): Environment {
  const entries = connected.flatMap((one) => [...entriesOf(one, inherited), ...npmEntriesOf(one)])
  const isThere = (name: string) => entries.some(([other]) => other === name)
  const superfluous = new Set(ALTERNATIVES.flatMap((names) => superfluousOf(names.filter(isThere), inherited)))
  return Object.fromEntries(entries.filter(([name]) => !superfluous.has(name)))
}

type Environment = Readonly<Record<string, string>>

/** Names of one key of which tools want but one: the Gemini CLI and Google's libraries complain of two. */
const ALTERNATIVES = [['GEMINI_API_KEY', 'GOOGLE_API_KEY']] as const

/** All but what the user has set, or but the first where the user has set none. */
function superfluousOf(names: readonly string[], inherited: Environment): readonly string[] {
  const isSetByUser = names.some((name) => inherited[name] !== undefined)
  return names.filter((name, index) => (isSetByUser ? inherited[name] === undefined : index > 0))
}

/** Registries to which npm sends nothing that it has no token for, by provider. */
const NPM_REGISTRIES: Environment = { npm: 'registry.npmjs.org', 'github-packages': 'npm.pkg.github.com' }

/** npm reads its settings from the environment too; `npm publish` refuses without a token of its own. */
function npmEntriesOf({ definition }: Connected): readonly (readonly [string, string])[] {
  const registry = NPM_REGISTRIES[definition.name]
  return registry === undefined ? [] : [[`npm_config_//${registry}/:_authToken`, DEFAULT_PLACEHOLDER]]
}

/** Returns whether its variables hold more than the key and the address: the connection has to be looked into for it. */
export function namesFields(definition: ProviderDefinition): boolean {
  const tenants = templatesOf(definition).map((template) => TENANT.exec(template)?.[1])
  return Object.values(definition.env ?? {}).some((part) => !['credential', 'base_url', ...tenants].includes(part))
}

function templatesOf({ base_url: text }: ProviderDefinition): readonly string[] {
  return text === undefined ? [] : typeof text === 'string' ? [text] : text
}

/** Leaves to the user which server is meant, where a variable says it already. */
function entriesOf(connected: Connected, inherited: Environment): readonly (readonly [string, string])[] {
  return Object.entries(connected.definition.env ?? {}).flatMap(([name, part]) => {
    if (part === 'base_url' && inherited[name] !== undefined) return []
    const value = valueFor(part, connected)
    return value === undefined ? [] : [[name, value] as const]
  })
}

function valueFor(part: string, { definition, connection }: Connected): string | undefined {
  if (part === 'credential') return definition.placeholder ?? DEFAULT_PLACEHOLDER
  if (part === 'base_url') return connection?.base_url
  // What a login in the browser found is its own: an OAuth app is no client that acts for itself.
  const isEntered = connection?.flow === 'api_key' && 'credential' in connection
  const shown = isEntered ? connection.credential[part] : undefined
  if (shown === undefined) {
    const found = templatesOf(definition).map((template) => tenantOf(part, template, connection?.base_url))
    return found.find((tenant) => tenant !== undefined)
  }
  return shown === REDACTED ? DEFAULT_PLACEHOLDER : shown
}

/** What the daemon shows of a secret. */
const REDACTED = '[redacted]'

/** Returns what stands in the connection's address where the template has `{part}`. */
function tenantOf(part: string, template: string, address: string | undefined): string | undefined {
  if (address === undefined || TENANT.exec(template)?.[1] !== part) return undefined
  const [before = '', after = ''] = template.split(`{${part}}`)
  const end = address.length - after.length
  return address.startsWith(before) && address.endsWith(after) ? address.slice(before.length, end) : undefined
}
