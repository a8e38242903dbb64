import { randomInt } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { constants, inflateRawSync, inflateSync } from 'node:zlib'

/** One place where a secret could have gone: an answer, an output, a file, a process. */
export interface Trace {
  readonly where: string
  readonly bytes: Uint8Array | string
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A value that nothing else has: the marker and random letters between what its provider's pattern wants. */
export function markedSecret(prefix = '', length = 24): string {
  const letters = Array.from({ length }, () => LETTERS[randomInt(LETTERS.length)])
  return `${prefix}CNRY${letters.join('')}`
}

/**
 * Returns where a secret, or a part of it, stands in any spelling: one sighting for each place and secret. What stands before the
 * marker is not looked for; one without a marker must be random from its first letter on.
 */
export function searchForSecrets(traces: readonly Trace[], secrets: readonly string[]): readonly string[] {
  const needles = secrets.flatMap((secret) => spellingsOf(secret.slice(Math.max(0, secret.indexOf('CNRY')))))
  const needleOf = new Map(needles.map((needle) => [needle.text, needle]))
  // One pattern of them all reads a text once; some megabytes are searched.
  const any = new RegExp([...needleOf.keys()].map((text) => RegExp.escape(text)).join('|'), 'g')
  return traces.flatMap(({ where, bytes }) => {
    const seen = readingsOf(Buffer.from(bytes)).flatMap((reading) => reading.match(any) ?? [])
    const spellings = new Map<string, string>()
    for (const { of, spelling } of seen.flatMap((text) => needleOf.get(text) ?? [])) {
      if (!spellings.has(of)) spellings.set(of, spelling)
    }
    return [...spellings].map(([of, spelling]) => `${where}: ${of.slice(0, 12)}… ${spelling}`)
  })
}

/** Every regular file below the folder, by its path; what goes away meanwhile is left out. */
export function filesBelow(folder: string): readonly Trace[] {
  return namesIn(folder).flatMap((name) => {
    const path = join(folder, name)
    const stat = lstatSync(path, { throwIfNoEntry: false })
    const inside = stat?.isDirectory() ? filesBelow(path) : []
    return [{ where: `name of ${path}`, bytes: name }, ...inside, ...(stat?.isFile() ? bytesOf(path) : [])]
  })
}

/** Returns what the system shows of a process to others of its user. */
export function processTraces(pid: number, name: string): readonly Trace[] {
  return ['cmdline', 'environ'].flatMap((file) =>
    bytesOf(`/proc/${pid}/${file}`).map(({ bytes }) => ({ where: `${file} of ${name}`, bytes })),
  )
}

interface Needle {
  readonly of: string
  readonly spelling: string
  readonly text: string
}

/** Together they find any eleven letters in a row, and eight of the beginning or the end. */
const FRAGMENT = 8
const STEP = 4

function spellingsOf(secret: string): readonly Needle[] {
  const bytes = Buffer.from(secret)
  const places = Array.from({ length: Math.ceil((secret.length - FRAGMENT) / STEP) }, (_, index) => index * STEP)
  const fragments = [...places, secret.length - FRAGMENT].map((at) => secret.slice(at, at + FRAGMENT))
  const base64 = [0, 1, 2].map((offset) => base64At(bytes, offset))
  const texts: Readonly<Record<string, readonly string[]>> = {
    plain: fragments,
    reversed: fragments.map((text) => text.split('').reverse().join('')),
    base64,
    base64url: base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    hex: [bytes.toString('hex'), bytes.toString('hex').toUpperCase()],
    'lower case': fragments.map((text) => text.toLowerCase()),
    'UTF-16': [bytes.toString('latin1').split('').join('\0')],
  }
  return Object.entries(texts).flatMap(([spelling, all]) => all.map((text) => ({ of: secret, spelling, text })))
}

/** Returns how the bytes stand in the base64 of a longer text that has `offset` bytes (modulo three) before them. */
function base64At(bytes: Buffer, offset: number): string {
  const whole = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
  const tail = (offset + bytes.length) % 3
  // The first and the last group hold bits of the neighbours.
  return whole.slice(offset === 0 ? 0 : offset + 1, tail === 0 ? undefined : -4)
}

/** The bytes as they are, and as whoever undoes one encoding would read them. */
function readingsOf(bytes: Buffer): readonly string[] {
  const plain = [bytes, ...unpacked(bytes)].map((one) => one.toString('latin1'))
  const readings = plain.flatMap((text) => [
    text,
    text.replace(/%([0-9a-f]{2})/gi, byCode),
    text.replace(/\\u00([0-9a-f]{2})|\\x([0-9a-f]{2})/gi, (_, unicode, hex) => byCode('', unicode ?? hex)),
    text.replace(/&#x0*([0-9a-f]{2});|&#0*(\d{2,3});/gi, (_, hex, decimal) =>
      hex ? byCode('', hex) : String.fromCharCode(Number(decimal)),
    ),
    text.toLowerCase(),
    // Wrapped lines, also those that are written out in JSON.
    text.replace(/\\[rnt]|\s/g, ''),
  ])
  return [...new Set(readings)]
}

function byCode(_: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16))
}

const GZIP = Buffer.of(0x1f, 0x8b, 0x08)
const ZLIB = [0x01, 0x5e, 0x9c, 0xda].map((level) => Buffer.of(0x78, level))

// What follows the packed bytes is nothing to an inflater; `gunzipSync` would take it for another member and throw.
function unpacked(bytes: Buffer): readonly Buffer[] {
  const cutOff = { finishFlush: constants.Z_SYNC_FLUSH }
  return [
    ...placesOf(bytes, GZIP).flatMap((at) =>
      tried(() => inflateRawSync(bytes.subarray(afterGzipHeader(bytes, at)), cutOff)),
    ),
    ...ZLIB.flatMap((magic) => placesOf(bytes, magic)).flatMap((at) =>
      tried(() => inflateSync(bytes.subarray(at), cutOff)),
    ),
  ]
}

/** RFC 1952 section 2.3: ten bytes, then the name of the file where there is one. */
function afterGzipHeader(bytes: Buffer, at: number): number {
  const hasName = ((bytes[at + 3] ?? 0) & 0b1000) !== 0
  return hasName ? bytes.indexOf(0, at + 10) + 1 : at + 10
}

function placesOf(bytes: Buffer, magic: Buffer): readonly number[] {
  const places: number[] = []
  for (let at = bytes.indexOf(magic); at >= 0; at = bytes.indexOf(magic, at + 1)) places.push(at)
  return places
}

function tried(unpack: () => Buffer): readonly Buffer[] {
  try {
    return [unpack()]
  } catch {
    return []
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function bytesOf(path: string): readonly Trace[] {
  try {
    return [{ where: path, bytes: readFileSync(path) }]
  } catch {
    return []
  }
}
