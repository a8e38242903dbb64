import type { Field } from './head.ts'
import type { OutgoingRequest } from './upstream-stream.ts'

/**
 * The request as it is once its body's edit has said what it changes; undefined as long as that is not known. One whose length
 * was never said, or that nobody edits, is itself.
 */
export function resized(request: OutgoingRequest): OutgoingRequest | undefined {
  const { head, decoder, fields } = request
  if (!request.waitsForBody || head.framing.kind !== 'length') return request
  const change = decoder?.lengthChange
  if (change === undefined) return undefined
  const length = head.framing.length + change
  const own: Field = { name: 'content-length', value: String(length), spelled: 'Content-Length' }
  return {
    ...request,
    head: { ...head, framing: { kind: 'length', length } },
    fields: fields.map((field) => (field.name === 'content-length' ? own : field)),
  }
}
