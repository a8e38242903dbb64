import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { makeFolders } from '../../config/index.ts'
import { BrokerError } from '../../protocol/index.ts'
import type { DescribedProvider } from '../../schemas/index.ts'
import type { Invocation } from '../invocation.ts'
import { providerNamed } from '../named.ts'
import { asAgent } from '../session.ts'

export interface ExportOptions {
  readonly allCustom?: boolean
  /** A folder, made where it is not there; standard output where absent. */
  readonly out?: string
  readonly force?: boolean
}

/** Definitions alone, as `register` takes them: one as it is, several as a list. */
export async function exportProviders(
  invocation: Invocation,
  names: readonly string[],
  options: ExportOptions,
): Promise<void> {
  if ((names.length === 0) === (options.allCustom !== true)) throw whichAreMeant()
  const definitions = await asAgent(invocation, async (client) => {
    const wanted = options.allCustom ? (await client.providers()).custom.map(({ name }) => name) : names
    const read: object[] = []
    for (const name of new Set(wanted.map(providerNamed))) read.push(ownPart(await client.provider(name)))
    return read as readonly Exported[]
  })
  if (options.out !== undefined) return intoFolder(invocation, definitions, options.out, options.force === true)
  const [first] = definitions
  invocation.output.document(definitions.length === 1 && !options.allCustom ? first : definitions)
}

type Exported = Omit<DescribedProvider, 'source'>

/** Takes out where it came from: that is the daemon's to say, not a definition's. */
function ownPart({ source: _ours, ...definition }: DescribedProvider): Exported {
  return definition
}

function intoFolder(
  { output }: Invocation,
  definitions: readonly Exported[],
  folder: string,
  overwrites: boolean,
): void {
  const files = definitions.map((definition) => ({ definition, path: join(folder, `${definition.name}.json`) }))
  const there = files.find(({ path }) => existsSync(path))
  if (there && !overwrites) throw isThere(there.path)
  makeFolder(folder)
  for (const { definition, path } of files) writeFileSync(path, `${JSON.stringify(definition, undefined, 2)}\n`)
  output.result({ status: 'ok', files: files.map(({ path }) => path) }, () => {
    for (const { path } of files) output.line(path)
    output.note(`Register them elsewhere with \`broker provider register ${folder}\`.`)
  })
}

function makeFolder(path: string): void {
  try {
    makeFolders(resolve(path))
  } catch (cause) {
    throw new BrokerError('InvalidRequestError', `The folder "${path}" cannot be made; nothing was written`, {
      cause,
      hint: 'Name another place with --out.',
    })
  }
}

export function isThere(path: string): BrokerError {
  return new BrokerError('InvalidRequestError', `The file "${path}" is there already; nothing was written`, {
    hint: 'Overwrite it with --force, or name another place with --out.',
  })
}

function whichAreMeant(): BrokerError {
  return new BrokerError('InvalidRequestError', 'Name the providers to export, or give --all-custom, not both', {
    hint: 'broker provider export acme > acme.json',
  })
}
