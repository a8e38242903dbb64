import type * as z from 'zod'
import { BrokerError, type ErrorDetail, SIGNING_TYPES } from '../../protocol/index.ts'
import { type ProviderDefinition, providerDefinition } from '../../schemas/index.ts'
import { definitionProblems } from './definition-rules.ts'

/**
 * The only way to a definition: shape first, then the rules.
 * @param at where the definition stands in what was sent: `definition` makes it `definition.hosts.0`
 * @throws {BrokerError} InvalidRequestError; `details` names each field that is wrong and repeats no value
 */
export function parseDefinition(value: unknown, at = ''): ProviderDefinition {
  const outcome = check(value)
  if ('definition' in outcome) return outcome.definition
  throw invalid(outcome.details.map(({ path, message }) => ({ path: joined([at, path]), message })))
}

export type ParsedDefinition =
  | { readonly definition: ProviderDefinition }
  | { readonly details: readonly ErrorDetail[] }

function check(value: unknown): ParsedDefinition {
  if (hasPrototypeKey(value)) return { details: [{ path: '__proto__', message: 'is not a known field' }] }
  const parsed = providerDefinition.safeParse(withTypes(value))
  if (!parsed.success) return { details: firstOfEach(parsed.error.issues.flatMap(detailsOf)) }
  const details = definitionProblems(parsed.data)
  return details.length > 0 ? { details } : { definition: parsed.data }
}

/** An entry of `injections` may say by `in`, as resolutions do, what its `type` is. */
function withTypes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('injections' in value)) return value
  const { injections } = value
  if (!Array.isArray(injections)) return value
  const typed = (entry: object) => {
    const { in: type, ...rest } = entry as { readonly in?: unknown }
    return { type, ...rest }
  }
  const isByPlace = (entry: unknown): entry is object =>
    typeof entry === 'object' && entry !== null && 'in' in entry && !('type' in entry)
  return { ...value, injections: injections.map((entry: unknown) => (isByPlace(entry) ? typed(entry) : entry)) }
}

/** The same without a throw, and with all that is wrong at once: of a wrong shape, too, the rest is held to the rules. */
export function tryDefinition(value: unknown): ParsedDefinition {
  const outcome = check(value)
  if ('definition' in outcome) return outcome
  const rest = withoutMisshapen(value)
  const further = rest === undefined ? [] : definitionProblems(rest)
  const known = outcome.details.map(({ path }) => path)
  const isNew = ({ path }: ErrorDetail) =>
    !known.some((one) => path === one || isBelow(path, one) || isBelow(one, path))
  return { details: [...outcome.details, ...further.filter(isNew)] }
}

function isBelow(path: string, above: string): boolean {
  return path.startsWith(`${above}.`)
}

/** Returns what is left once the members of a wrong shape are out; undefined where nothing can be said of the rest. */
function withoutMisshapen(value: unknown): ProviderDefinition | undefined {
  if (typeof value !== 'object' || value === null || hasPrototypeKey(value)) return undefined
  const rest = structuredClone(value)
  const { error } = providerDefinition.safeParse(rest)
  for (const issue of error?.issues ?? []) {
    if (issue.code === 'unrecognized_keys') for (const key of issue.keys) remove(memberAt(rest, issue.path), key)
    else remove(memberAt(rest, issue.path.slice(0, -1)), String(issue.path.at(-1)))
  }
  const parsed = providerDefinition.safeParse({ ...STAND_INS, ...rest })
  return parsed.success ? parsed.data : undefined
}

/** They decide nothing about the others. */
const STAND_INS = { schema_version: 1, name: 'x', display_name: 'x' }

function memberAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(memberOf, value)
}

function memberOf(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined
}

// A hole in a list would give what follows another place.
function remove(from: unknown, key: string): void {
  if (typeof from === 'object' && from !== null && !Array.isArray(from)) delete (from as Record<string, unknown>)[key]
}

/** One thing at a time for each field. */
function firstOfEach(details: readonly ErrorDetail[]): readonly ErrorDetail[] {
  return details.filter(({ path }, index) => details.findIndex((other) => other.path === path) === index)
}

function invalid(details: readonly ErrorDetail[]): BrokerError {
  const [first] = details
  const more = details.length > 1 ? `, and ${details.length - 1} more` : ''
  const summary = first === undefined ? '' : `: ${first.path === '' ? 'it' : first.path} ${first.message}${more}`
  return new BrokerError('InvalidRequestError', `Cannot use this provider definition${summary}`, { details })
}

function detailsOf(issue: z.core.$ZodIssue): readonly ErrorDetail[] {
  const path = issue.path.map((part) => readable(String(part)))
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ path: joined([...path, readable(key)]), message: 'is not a known field' }))
    case 'invalid_key':
      return issue.issues.map(({ message }) => ({ path: joined(path), message: lowerFirst(message) }))
    case 'invalid_union':
      return [{ path: joined(path), message: UNIONS[path[0] ?? ''] ?? lowerFirst(issue.message) }]
    case 'invalid_type':
      return [{ path: joined(path), message: typeProblem(issue) }]
    case 'invalid_value':
      return [{ path: joined(path), message: valueProblem(issue) }]
    default:
      return [{ path: joined(path), message: lowerFirst(issue.message) }]
  }
}

// The schema library's own sentence is about values of a language.
function typeProblem({ message, expected }: z.core.$ZodIssueInvalidType): string {
  if (message.endsWith('received undefined')) return 'is required'
  return `must be ${TYPES[expected] ?? `of the type ${expected}`}`
}

function valueProblem({ values }: z.core.$ZodIssueInvalidValue): string {
  const texts = values.map((value) => JSON.stringify(value))
  return `must be ${[texts.slice(0, -1).join(', '), texts.at(-1)].filter((part) => part !== '').join(' or ')}`
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  boolean: 'true or false',
}

/** What the parts of a definition that come in several kinds may be. */
const UNIONS: Readonly<Record<string, string>> = {
  injections: 'must be "header", "query", "basic" or "path"',
  signing: `must be ${SIGNING_TYPES.map((type) => `"${type}"`).join(' or ')}`,
  base_url: 'must be a URL, or a list of them',
  env: 'must be "credential", "base_url" or the name of a field',
}

function joined(path: readonly string[]): string {
  return path.filter((part) => part !== '').join('.')
}

/** A name may come from anyone: only as much of it as can be read. */
function readable(name: string): string {
  return name.replace(/[^ -~]/g, '?').slice(0, 64)
}

function lowerFirst(message: string): string {
  return `${message.charAt(0).toLowerCase()}${message.slice(1)}`
}

const MAX_DEPTH = 64

// The schema passes over this one name without a word.
function hasPrototypeKey(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false
  return Object.hasOwn(value, '__proto__') || Object.values(value).some((part) => hasPrototypeKey(part, depth + 1))
}
