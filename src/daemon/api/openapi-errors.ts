import { ERROR_NAMES, httpStatusOf } from '../../protocol/index.ts'
import type { Route } from './route.ts'

/** What a status says beyond the names of its errors, by the status. */
const MEANINGS: Readonly<Record<string, string>> = {
  400: 'The request is not one: its body, its proof or its framing cannot be read.',
  401: 'Nobody has signed, or nobody that the daemon knows.',
  403: 'Who has signed may not.',
  404: 'There is none of that name, or it is another principal’s.',
  409: 'It does not fit what is stored.',
  413: 'The body is too large.',
  415: 'The body is of another type than this endpoint takes.',
  421: 'The request is for another host than this daemon.',
  422: 'The input does not fit; `details` names each field.',
  429: 'Too many; `retry-after` says when to try again.',
  503: 'The daemon cannot answer now: it is stopping, or its store or vault is out of reach.',
}

/** Gives the answers that refuse, by status: one description for all operations. */
export function refusals(schema: object): Record<string, object> {
  return Object.fromEntries(
    Object.entries(MEANINGS).map(([status, meaning]) => [
      `Refused${status}`,
      { description: [meaning, namesOf(Number(status))].join(' ').trim(), content: { 'application/json': { schema } } },
    ]),
  )
}

function namesOf(status: number): string {
  const names = ERROR_NAMES.filter((name) => httpStatusOf[name] === status)
  return names.length > 0 ? `Errors: ${names.join(', ')}.` : ''
}

/** Gives references to those that an operation may answer with. */
export function refusalsOf(route: Route): Record<string, { readonly $ref: string }> {
  const isSigned = route.access !== 'anyone'
  const statuses = [
    ...(isSigned || route.body ? [400] : []),
    ...(isSigned ? [401, 403] : []),
    ...(route.params ? [404] : []),
    ...(route.method === 'GET' ? [] : [409]),
    ...(route.body ? [413, 415] : []),
    421,
    422,
    ...(route.perSource === undefined ? [] : [429]),
    503,
  ]
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/Refused${status}` }]))
}
