import assert from 'node:assert/strict'
import { type OutboundOptions, type OutboundRequest, openOutbound } from './outbound-request.ts'
import { Unreachable, type UnreachableKind } from './provider-failure.ts'

export function outbound(options: Partial<OutboundOptions> = {}) {
  return openOutbound({ hosted: false, version: '9.9.9', ...options })
}

export function get(url: string, more: Partial<OutboundRequest> = {}): OutboundRequest {
  return { method: 'GET', url, reach: 'private', ...more }
}

/** That nothing is read, for this reason, in words that hold no secret. */
export async function assertUnreachable(work: Promise<unknown>, kind: UnreachableKind): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof Unreachable)
    assert.equal(error.kind, kind)
    assert.doesNotMatch(`${error.message} ${error.cause}`, /CNRY/)
    return true
  })
}
