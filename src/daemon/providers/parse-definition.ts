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

type Outcome = { readonly definition: ProviderDefinition } | { readonly details: readonly ErrorDetail[] }

function check(value: unknown): Outcome {
  if (hasPrototypeKey(value)) return { details: [{ path: '__proto__', message: 'is not a known field' }] }
  const parsed = providerDefinition.safeParse(value)
  if (!parsed.success) return { details: firstOfEach(parsed.error.issues.flatMap(detailsOf)) }
  const details = definitionProblems(parsed.data)
  return details.length > 0 ? { details } : { definition: parsed.data }
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
    default:
      return [{ path: joined(path), message: lowerFirst(issue.message) }]
  }
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
