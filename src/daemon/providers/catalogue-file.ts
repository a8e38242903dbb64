import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import * as z from 'zod'
import { BrokerError, type ErrorDetail, parseStrictJson, StrictJsonError } from '../../protocol/index.ts'
import { type ProviderDefinition, providerName } from '../../schemas/index.ts'
import { tryDefinition } from './parse-definition.ts'

const CATALOGUE_FORMAT = 'broker-catalogue/1'
const MAX_DEFINITIONS = 5_000

/** What a catalogue file carries, signed: definitions that stand before the shipped ones, and names that are there no more. */
export interface Catalogue {
  readonly version: string
  readonly madeAt: string
  readonly expiresAt: string | undefined
  readonly definitions: readonly ProviderDefinition[]
  readonly removed: readonly string[]
  /** SHA-256 of the payload, in hex. */
  readonly digest: string
  /** Of the keys that are trusted, those by which it is signed. */
  readonly signers: readonly CatalogueKey[]
}

/** A public Ed25519 key that catalogues are signed with. */
export interface CatalogueKey {
  /** Made from the key itself: no other has it. */
  readonly id: string
  readonly key: KeyObject
  /** SPKI. */
  readonly pem: string
}

/** A day, and a number within it: `2026-11-22.1`. */
const catalogueVersion = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}\.(?:0|[1-9]\d{0,3})$/, 'must be a day and a number: "2026-11-22.1"')
  .refine((text) => z.iso.date().safeParse(text.slice(0, 10)).success, 'must begin with a day')

const base64url = z.string().regex(/^[A-Za-z0-9_-]+$/, 'must be base64url')

const envelope = z.strictObject({
  format: z.literal(CATALOGUE_FORMAT),
  payload: base64url,
  signatures: z
    .array(z.strictObject({ key: z.string().max(64), signature: base64url.max(100) }))
    .min(1)
    .max(10),
})

const payload = z.strictObject({
  catalogue_version: catalogueVersion,
  made_at: z.iso.datetime(),
  expires_at: z.iso.datetime().optional(),
  definitions: z.array(z.unknown()).max(MAX_DEFINITIONS),
  removed: z.array(providerName).max(MAX_DEFINITIONS).optional(),
})

/** The exact bytes that a signature of a catalogue is over: the payload as it is written, and what it is of. */
export function signedBytes(payloadText: string): Buffer {
  return Buffer.from(`${CATALOGUE_FORMAT}.${payloadText}`)
}

/** The text of a catalogue file. */
export function catalogueFile(payloadText: string, signatures: readonly { key: string; signature: string }[]): string {
  return `${JSON.stringify({ format: CATALOGUE_FORMAT, payload: payloadText, signatures }, undefined, 2)}\n`
}

/** @throws {BrokerError} InvalidRequestError where it is no public Ed25519 key in PEM */
export function catalogueKey(pem: string): CatalogueKey {
  try {
    // Node takes the public half of a private key, which is to be nowhere here.
    if (!/^\s*-----BEGIN PUBLIC KEY-----/.test(pem)) throw new Error('not a public key')
    const key = createPublicKey(pem)
    if (key.asymmetricKeyType !== 'ed25519') throw new Error('not an Ed25519 key')
    const spki = key.export({ type: 'spki', format: 'der' })
    const id = createHash('sha256').update(spki).digest('base64url').slice(0, 22)
    return { id, key, pem: String(key.export({ type: 'spki', format: 'pem' })) }
  } catch (cause) {
    throw new BrokerError('InvalidRequestError', 'The key of the catalogue is no public Ed25519 key in PEM', {
      hint: 'Make the public half of a key: openssl pkey -in private.pem -pubout -out public.pem',
      cause,
    })
  }
}

/**
 * Verifies and reads a catalogue file: nothing of it is looked at before a trusted key has signed it.
 * @param invalid what to do with definitions that the rules of this version refuse
 * @throws {BrokerError} InvalidRequestError where it is none, or has a definition that is refused; OperationNotAllowedError
 *   where no trusted key has signed it
 */
export function readCatalogue(
  text: string,
  trusted: readonly CatalogueKey[],
  invalid: 'refuse' | 'leave out',
): Catalogue {
  const { payload: payloadText, signatures } = parsed(envelope, text, 'file')
  const signers = trusted.filter((one) =>
    signatures.some(
      ({ key, signature }) =>
        key === one.id && verify(null, signedBytes(payloadText), one.key, Buffer.from(signature, 'base64url')),
    ),
  )
  if (signers.length === 0)
    throw notTrusted(
      signatures.map(({ key }) => key),
      trusted,
    )
  const {
    catalogue_version,
    made_at,
    expires_at,
    definitions,
    removed = [],
  } = parsed(payload, Buffer.from(payloadText, 'base64url').toString('utf8'), 'payload')
  return {
    version: catalogue_version,
    madeAt: made_at,
    expiresAt: expires_at,
    definitions: validOf(definitions, invalid),
    removed,
    digest: createHash('sha256').update(payloadText).digest('hex'),
    signers,
  }
}

function parsed<Shape extends z.ZodType>(shape: Shape, text: string, what: string): z.infer<Shape> {
  try {
    const result = shape.safeParse(parseStrictJson(text))
    if (result.success) return result.data
    const [issue] = result.error.issues
    throw notACatalogue(`${[what, ...(issue?.path ?? [])].join('.')}: ${issue?.message ?? 'is wrong'}`)
  } catch (error) {
    if (error instanceof StrictJsonError) throw notACatalogue(`the ${what} ${error.message}`)
    throw error
  }
}

function validOf(values: readonly unknown[], invalid: 'refuse' | 'leave out'): readonly ProviderDefinition[] {
  const outcomes = values.map(tryDefinition)
  const names = new Set<string>()
  const definitions: ProviderDefinition[] = []
  const details = outcomes.flatMap((outcome, index) => {
    const problems = 'details' in outcome ? outcome.details : takeFirst(outcome.definition, names, definitions)
    return problems.map(({ path, message }) => ({ path: `definitions.${index}.${path}`, message }))
  })
  if (details.length === 0 || invalid === 'leave out') return definitions
  throw new BrokerError(
    'InvalidRequestError',
    'The catalogue has a definition that cannot be used; nothing is changed',
    { details: details.slice(0, 50) },
  )
}

function takeFirst(
  definition: ProviderDefinition,
  names: Set<string>,
  taken: ProviderDefinition[],
): readonly ErrorDetail[] {
  if (names.has(definition.name)) return [{ path: 'name', message: 'is that of another definition of the file' }]
  names.add(definition.name)
  taken.push(definition)
  return []
}

function notACatalogue(why: string): BrokerError {
  return new BrokerError('InvalidRequestError', `This is not a catalogue file: ${why}`)
}

function notTrusted(named: readonly string[], trusted: readonly CatalogueKey[]): BrokerError {
  const isKnown = trusted.some(({ id }) => named.includes(id))
  const shown = named.filter((id) => /^[\w-]{1,64}$/.test(id)).join(', ')
  return new BrokerError(
    'OperationNotAllowedError',
    isKnown
      ? 'The signature of the catalogue is wrong: it was changed after it was signed'
      : `The catalogue is signed by a key that is not trusted here: ${shown}`,
    {
      hint: isKnown
        ? 'Get the file again from whoever publishes it.'
        : 'Name the key of whoever publishes it, got by a way that you trust: broker provider update <file> --key <public.pem>',
    },
  )
}

/** Below zero where `one` is older. */
export function compareVersions(one: string, other: string): number {
  const [[day = '', count = ''], [otherDay = '', otherCount = '']] = [one.split('.'), other.split('.')]
  return day === otherDay ? Number(count) - Number(otherCount) : day < otherDay ? -1 : 1
}
