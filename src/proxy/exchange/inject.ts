import { PLACES, type Place, RequestDraft, type ResolvedCredential, spelled } from '../../injection/index.ts'
import { BrokerError } from '../../protocol/index.ts'
import type { Field, OutgoingRequest, RequestHead } from '../messages/index.ts'

const NOTHING_INJECTED: ReadonlySet<string> = new Set()

/** The child's request, with fields for a proxy on the way in place of its own; nothing is injected. */
export function bare(head: RequestHead, target: string, proxyFields: readonly Field[]): OutgoingRequest {
  if (proxyFields.length === 0) return { head, target, fields: head.fields, injected: NOTHING_INJECTED }
  const injected = new Set(proxyFields.map(({ name }) => name))
  const own = head.fields.filter(({ name }) => !injected.has(spelled(name)))
  return { head, target, fields: [...own, ...proxyFields], injected }
}

/**
 * The child's request made authentic: each injected header stands where the child's own of that name stood, or last.
 * The one place of the proxy where a credential is written. Throws CredentialMissingError where the stored value could
 * not be sent in its place.
 */
export function inject(head: RequestHead, target: string, resolved: ResolvedCredential): OutgoingRequest {
  const draft = new RequestDraft(target, head.fields)
  for (const place of resolved.places) fillIn(draft, place, resolved)
  const pending = draft.headers
  if (draft.cookies.size > 0) pending.set('cookie', cookieOf(draft, head))
  const injected = new Set([...pending.keys(), 'authorization'])

  const fields: Field[] = []
  for (const field of head.fields) {
    const key = spelled(field.name)
    if (!injected.has(key)) {
      fields.push(field)
      continue
    }
    // The child's own `Authorization` goes even where another header is injected: with it, the request could act for
    // an account of the child's choice. All spellings and repetitions go; the first gives its place.
    const own = pending.get(key)
    if (own !== undefined) fields.push(fieldOf(own))
    pending.delete(key)
  }
  for (const header of pending.values()) if (header !== undefined) fields.push(fieldOf(header))
  return { head, target: draft.target, ...withEdits(draft, head, fields), injected }
}

/** What its body and its WebSocket go through, and the fields without what that rules out. */
function withEdits(draft: RequestDraft, { framing, upgrade }: RequestHead, fields: readonly Field[]) {
  const length = framing.kind === 'length' ? framing.length : undefined
  const decoder = framing.kind === 'none' ? undefined : draft.bodyEdit(length)
  const switched = upgrade ? draft.frameEdit() : undefined
  const waitsForBody = decoder !== undefined && length !== undefined
  if (switched === undefined && !waitsForBody) return { fields, decoder }
  // The child is asked for its body here; and an extension would change what is in the frames.
  const ruledOut = waitsForBody ? 'expect' : 'sec-websocket-extensions'
  return { fields: fields.filter(({ name }) => name !== ruledOut), decoder, switched, waitsForBody }
}

function fillIn(draft: RequestDraft, place: Place, resolved: ResolvedCredential): void {
  const type = PLACES[place.in]
  const value = place.value?.reveal()
  if (!type.isSendable(place.name, value ?? '')) throw notSendable(resolved)
  type.apply(draft, place.name, value, place)
}

function cookieOf(draft: RequestDraft, { fields }: RequestHead): { name: string; value: string } | undefined {
  const value = draft.cookieHeader(fields.flatMap((field) => (field.name === 'cookie' ? [field.value] : [])))
  return value === '' ? undefined : { name: 'Cookie', value }
}

function fieldOf({ name, value }: { readonly name: string; readonly value: string }): Field {
  return { name: name.toLowerCase(), value, spelled: name }
}

function notSendable({ provider, connection }: ResolvedCredential): BrokerError {
  return new BrokerError('CredentialMissingError', `The stored credential of ${provider} cannot be sent as a header`, {
    provider,
    connection,
    hint: `It holds a line break or another forbidden character. Store it again with \`broker login ${provider} --force\`.`,
  })
}
