import { randomBytes } from 'node:crypto'
import { verifySignature } from '../identity/index.ts'
import { BrokerError } from '../protocol/index.ts'

/** Returns where the daemon of this did:key is the one that is meant, and throws DaemonUnavailableError where not. */
export type DaemonCheck = (did: string) => void

/** For the home's own daemon: only the one that `server/daemon.json` names, none where it names none. */
export function expectDaemon(expected: string | undefined): DaemonCheck {
  return (did) => {
    if (did === expected) return
    throw new BrokerError(
      'DaemonUnavailableError',
      'The program that answers at this address is not the daemon of this home; nothing was sent to it',
      { hint: 'Free the port or set BROKER_PORT to another, then `broker daemon start`.' },
    )
  }
}

/** For a daemon elsewhere: the first one met is remembered by `pin`, every other one refused. */
export function pinDaemon(pinned: string | undefined, pin: (did: string) => void, baseUrl: string): DaemonCheck {
  return (did) => {
    if (pinned === undefined) return pin(did)
    if (did === pinned) return
    throw new BrokerError(
      'DaemonUnavailableError',
      `The daemon at ${baseUrl} is not the one this home knows there; nothing was sent to it`,
      { hint: `If it was set up anew, trust the new one with \`broker onboard --base-url ${baseUrl}\`.` },
    )
  }
}

/** Text nobody can have an answer to yet, for the header `x-broker-challenge`. */
export function newChallenge(): string {
  return randomBytes(32).toString('base64url')
}

/**
 * did:key of the daemon whose header `x-broker-proof` answers the challenge, sent to this `authority` (the Host header);
 * undefined where the header proves nothing. The authority is part of what is signed, so that a program that listens
 * elsewhere cannot pass the challenge on to the real daemon.
 */
export function provenDid(proof: string | undefined, challenge: string, authority: string): string | undefined {
  const [did, signature, ...rest] = proof?.split(' ') ?? []
  if (!did || !signature || rest.length > 0) return undefined
  const signed = Buffer.from(`broker-daemon-proof/1\n${challenge}\n${authority}`)
  return verifySignature(did, signed, Buffer.from(signature, 'base64url')) ? did : undefined
}
