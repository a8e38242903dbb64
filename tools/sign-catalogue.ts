/**
 * `npm run sign-catalogue -- --key <private.pem> --version 2026-12-01.1 …`: makes a signed catalogue file of definitions, for
 * `broker provider update`. By whoever makes a release, from `providers/`; or by a company, from a folder of its own.
 */
import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  catalogueFile,
  catalogueKey,
  definitionFolder,
  openProviders,
  signedBytes,
} from '../src/daemon/providers/index.ts'
import { BrokerError } from '../src/protocol/index.ts'
import { root } from './source-files.ts'

const USAGE = `npm run sign-catalogue -- --key private.pem --version 2026-12-01.1
  --key <file>         a private Ed25519 key in PEM; may be given again, while one takes the place of another
  --version <version>  a day and a number within it; later than any before
  --from <folder>      definitions, one JSON file each; providers/ if absent
  --removed a,b        names that are there no more
  --expires <day>      until when it may be put to use: 2027-06-01
  --out <file>         catalogue.json if absent
  A new key: openssl genpkey -algorithm ed25519 -out private.pem; openssl pkey -in private.pem -pubout -out public.pem`

interface Wanted {
  readonly keys: readonly string[]
  readonly version: string
  readonly from: string
  readonly removed: readonly string[]
  readonly expires?: string
  readonly out: string
}

function main(): number {
  const wanted = wantedOf(process.argv.slice(2))
  if (!wanted) return fail(USAGE)
  try {
    const text = signed(wanted)
    writeFileSync(wanted.out, text)
    process.stdout.write(`Wrote ${wanted.out}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    const details = (error.options.details ?? []).map(({ path, message }) => `  ${path} ${message}`)
    return fail([error.message, ...details].join('\n'))
  }
}

function wantedOf(args: readonly string[]): Wanted | undefined {
  const text = { type: 'string' } as const
  const options = {
    key: { type: 'string', multiple: true },
    version: text,
    from: text,
    removed: text,
    expires: text,
    out: text,
  } as const
  try {
    const { values } = parseArgs({ args: [...args], options })
    const {
      key: keys = [],
      version,
      from = join(root, 'providers'),
      removed = '',
      out = 'catalogue.json',
      expires,
    } = values
    if (keys.length === 0 || version === undefined) return undefined
    const names = removed.split(',').filter((name) => name !== '')
    return { keys, version, from, removed: names, out, ...(expires !== undefined && { expires }) }
  } catch {
    return undefined
  }
}

/** Read again as a daemon would before it is given out: what it refuses is never signed away. */
function signed({ keys, version, from, removed, expires }: Wanted): string {
  const payload = Buffer.from(
    JSON.stringify({
      catalogue_version: version,
      made_at: new Date().toISOString(),
      ...(expires !== undefined && { expires_at: new Date(expires).toISOString() }),
      definitions: definitionsIn(from),
      ...(removed.length > 0 && { removed }),
    }),
  ).toString('base64url')
  const pairs = keys.map(privateKey)
  const signatures = pairs.map(({ key, id }) => ({
    key: id,
    signature: sign(null, signedBytes(payload), key).toString('base64url'),
  }))
  const text = catalogueFile(payload, signatures)
  const [first] = pairs
  daemonsOwn().planUpdate(text, first?.pem)
  for (const { id } of pairs) process.stderr.write(`Signed by ${id}\n`)
  return text
}

function definitionsIn(folder: string): readonly unknown[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
}

function privateKey(path: string) {
  if ((statSync(path).mode & 0o077) !== 0) process.stderr.write(`warning: others may read ${path}\n`)
  const key = createPrivateKey(readFileSync(path))
  const pem = String(createPublicKey(key).export({ type: 'spki', format: 'pem' }))
  return { key, pem, id: catalogueKey(pem).id }
}

function daemonsOwn() {
  const bundledDir = join(root, 'providers')
  return openProviders({ bundledDir, custom: definitionFolder(join(bundledDir, 'none')) })
}

function fail(text: string): number {
  process.stderr.write(`${text}\n`)
  return 2
}

process.exitCode = main()
