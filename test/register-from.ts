import { mintProof } from '../src/identity/index.ts'
import { type Answer, caller, type DaemonUnderTest, send } from './daemon-under-test.ts'

/** An identity that nobody knows asks to be claimed, from an address of this machine. */
export function registerFrom(daemon: DaemonUnderTest, handle: string, from: string, headers = {}): Promise<Answer> {
  const { key } = caller(daemon, handle)
  const path = '/api/identities/register'
  const body = Buffer.from(JSON.stringify({ handle, did: key.did }))
  const proof = mintProof(key, { handle, method: 'POST', url: daemon.origin + path, body })
  const own = { authorization: `PoP ${proof}`, 'content-type': 'application/json', ...headers }
  return send(daemon, 'POST', path, body, own, from)
}
