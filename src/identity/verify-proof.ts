import { BrokerError } from '../protocol/index.ts'
import { verifySignature } from './signing-key.ts'

/** What the daemon received, to hold a proof against. */
export interface ReceivedRequest {
  readonly method: string
  /** Path and query, byte for byte as received. */
  readonly target: string
  /** Scheme and authority under which the daemon may be addressed: `http://127.0.0.1:7998`. */
  readonly origins: readonly string[]
  /** base64url SHA-256 of the raw body. */
  readonly bodySha256: string
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** A proof whose signature, target and times are right. Whether it was used before is asked next, by `jti`. */
export interface Proof {
  /** did:key of the signer. */
  readonly issuer: string
  /** Handle the signer claims to act as; not yet looked up. */
  readonly handle: string
  readonly jti: string
  /** Seconds since the epoch. */
  readonly issuedAt: number
  /** Seconds since the epoch, after which the proof can no longer be accepted. */
  readonly deadUntil: number
}

const MAX_PROOF_LENGTH = 16_384
const MAX_LIFETIME_SECONDS = 60
const SKEW_SECONDS = 30

/**
 * Holds the JWT of `Authorization: PoP <jwt>` against a request, in the order of contract section 4:
 * shape, algorithm, signature, target, times.
 * @throws BrokerError AuthenticationFailedError naming the first rule that does not hold.
 */
export function verifyProof(jwt: string, request: ReceivedRequest): Proof {
  const { signingInput, header, claims, signature } = parseJwt(jwt)
  checkAlgorithm(header)
  const proof = parseClaims(claims)
  if (!verifySignature(proof.iss, Buffer.from(signingInput), signature)) throw refused('its signature does not verify')
  checkTarget(proof, request)
  checkTimes(proof, request.now)
  return {
    issuer: proof.iss,
    handle: proof.sub,
    jti: proof.jti,
    issuedAt: proof.iat,
    deadUntil: proof.exp + SKEW_SECONDS,
  }
}

interface ProofClaims {
  readonly iss: string
  readonly sub: string
  readonly htm: string
  readonly htu: string
  readonly body_sha256: string
  readonly iat: number
  readonly exp: number
  readonly jti: string
}

function refused(why: string): BrokerError {
  return new BrokerError('AuthenticationFailedError', `The proof of possession is refused: ${why}`)
}

function parseJwt(jwt: string) {
  if (jwt.length > MAX_PROOF_LENGTH) throw refused('it is too long')
  const parts = jwt.split('.')
  const [header, claims, signature] = parts
  if (parts.length !== 3 || !header || !claims || !signature) throw refused('it is not a JWT of three parts')
  return {
    signingInput: `${header}.${claims}`,
    header: parseFlatJson(decode(header)),
    claims: parseFlatJson(decode(claims)),
    signature: decode(signature),
  }
}

function decode(part: string): Buffer {
  const bytes = Buffer.from(part, 'base64url')
  // Buffer skips what is not base64url and accepts unused bits; one value must have one spelling.
  if (bytes.toString('base64url') !== part) throw refused('a part is not base64url without padding')
  return bytes
}

function parseFlatJson(bytes: Buffer): Record<string, unknown> {
  const text = bytes.toString('utf8')
  const value = parseJson(text)
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw refused('a part is not a JSON object')
  // JSON.parse keeps the last of two members with one name: what another reader sees there may be the first.
  if (Object.keys(value).length !== countMembers(text)) throw refused('a part has nested or repeated members')
  return value as Record<string, unknown>
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw refused('a part is not JSON')
  }
}

/** Members of a flat JSON object, -1 for one with an object or array inside. The text is known to be valid JSON. */
function countMembers(text: string): number {
  const outsideStrings = text.replace(/"(?:[^"\\]|\\.)*"/g, 's')
  if (/[[{]/.test(outsideStrings.trim().slice(1))) return -1
  return outsideStrings.split(':').length - 1
}

function checkAlgorithm(header: Record<string, unknown>): void {
  const names = Object.keys(header).sort().join()
  if (names !== 'alg,typ') throw refused('its header may have "typ" and "alg" and nothing else')
  if (header['typ'] !== 'pop+jwt') throw refused('its type is not "pop+jwt"')
  if (header['alg'] !== 'EdDSA') throw refused('its algorithm is not "EdDSA"')
}

function parseClaims(claims: Record<string, unknown>): ProofClaims {
  const text = (name: string, pattern: RegExp): string => {
    const value = claims[name]
    if (typeof value !== 'string' || !pattern.test(value)) throw refused(`claim "${name}" is missing or malformed`)
    return value
  }
  const seconds = (name: string): number => {
    const value = claims[name]
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
      throw refused(`claim "${name}" is missing or not an integer`)
    }
    return value
  }
  return {
    iss: text('iss', /^did:key:z[1-9A-HJ-NP-Za-km-z]{40,60}$/),
    sub: text('sub', /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/),
    htm: text('htm', /^[A-Z]{1,32}$/),
    htu: text('htu', /^https?:\/\/\S{1,8192}$/),
    body_sha256: text('body_sha256', /^[A-Za-z0-9_-]{43}$/),
    iat: seconds('iat'),
    exp: seconds('exp'),
    jti: text('jti', /^.{16,64}$/u),
  }
}

function checkTarget(claims: ProofClaims, request: ReceivedRequest): void {
  if (claims.htm !== request.method) throw refused('it was made for another method')
  if (!request.origins.some((origin) => claims.htu === origin + request.target)) {
    throw refused('it was made for another URL')
  }
  if (claims.body_sha256 !== request.bodySha256) throw refused('it was made for another body')
}

function checkTimes({ iat, exp }: ProofClaims, now: number): void {
  const lifetime = exp - iat
  if (lifetime < 1 || lifetime > MAX_LIFETIME_SECONDS) throw refused('it must live for 1 to 60 seconds')
  const seconds = now / 1000
  if (iat > seconds + SKEW_SECONDS) throw refused('it is from the future; is the clock right?')
  if (exp < seconds - SKEW_SECONDS) throw refused('it has expired; is the clock right?')
}
