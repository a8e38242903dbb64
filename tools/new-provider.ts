/**
 * `npm run new-provider -- <name> --display <text> --host <host> …`: begins a definition, and its row in the table of tests.
 * What it writes is what was said; the documentation of the service has to be read by whoever runs it.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { definitionFolder, openProviders } from '../src/daemon/providers/index.ts'
import { BrokerError } from '../src/protocol/index.ts'
import { root } from './source-files.ts'

const TABLE = join(root, 'src/daemon/providers/bundled.test.ts')
const USAGE = `npm run new-provider -- acme --display "Acme" --host api.acme.example --docs https://acme.example/keys
  --env ACME_API_KEY   a variable that holds the key; may be given again
  --header X-Api-Key   Authorization if absent
  --prefix Token       stands before the key; none if absent
  --query key          a query parameter in place of a header
  --category data`

interface Wanted {
  readonly name: string
  readonly display: string
  readonly hosts: readonly string[]
  readonly docs?: string
  readonly env: readonly string[]
  readonly header?: string
  readonly prefix?: string
  readonly query?: string
  readonly category?: string
}

function main(): number {
  const wanted = wantedOf(process.argv.slice(2))
  if (!wanted) return fail(USAGE)
  const file = join(root, 'providers', `${wanted.name}.json`)
  if (existsSync(file)) return fail(`There is a definition "${wanted.name}" already.`)
  try {
    const providers = openProviders({ bundledDir: join(root, 'providers'), custom: definitionFolder('/nowhere') })
    const definition = providers.validate(definitionOf(wanted))
    writeFileSync(file, `${JSON.stringify(definition, undefined, 2)}\n`)
    writeFileSync(TABLE, withRow(readFileSync(TABLE, 'utf8'), wanted))
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    const details = (error.options.details ?? []).map(({ path, message }) => `  ${path} ${message}`)
    return fail(['Such a definition cannot be used:', ...details].join('\n'))
  }
  process.stdout.write(`Wrote providers/${wanted.name}.json and its row in bundled.test.ts.
Now read the service's documentation, make the row say what a request must carry, and run:
  npm run format && npm run schema && npx node --test src/daemon/providers/bundled.test.ts\n`)
  return 0
}

function wantedOf(args: readonly string[]): Wanted | undefined {
  const text = { type: 'string' } as const
  const list = { type: 'string', multiple: true } as const
  const options = {
    display: text,
    host: list,
    docs: text,
    env: list,
    header: text,
    prefix: text,
    query: text,
    category: text,
  }
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    const { display, host: hosts = [], env = [], ...rest } = values
    const [name] = positionals
    return name && display && hosts.length > 0 ? { name, display, hosts, env, ...rest } : undefined
  } catch {
    return undefined
  }
}

function definitionOf({ name, display, hosts, docs, env, header, prefix, query, category }: Wanted): object {
  return {
    schema_version: 1,
    name,
    display_name: display,
    ...(category && { category }),
    ...(docs && { docs_url: docs }),
    auth_type: 'api_key',
    flow: 'api_key',
    hosts,
    ...(env.length > 0 && { env: Object.fromEntries(env.map((variable) => [variable, 'credential'])) }),
    api_key: {
      ...(header && { header_name: header }),
      ...(prefix && { prefix }),
      ...(query && { query_param: query }),
    },
  }
}

/** The rows are sorted by name. */
function withRow(table: string, { name, hosts, header = 'Authorization', prefix, query }: Wanted): string {
  const sent = query ? `?${query}=CNRYkey` : `${header}: ${prefix ? `${prefix} ` : ''}CNRYkey`
  const row = `  ['${name}', '${(hosts[0] ?? '').replace('*', 'acme')}/', '${sent}'],\n`
  const begin = table.indexOf('EXPECTED:')
  const end = table.indexOf('\n]\n', begin) + 1
  const next = [...table.slice(begin, end).matchAll(/^ {2}\[\s*'([^']+)',/gm)].find(([, other = '']) => other > name)
  const at = next ? begin + next.index : end
  return table.slice(0, at) + row + table.slice(at)
}

function fail(text: string): number {
  process.stderr.write(`${text}\n`)
  return 2
}

process.exitCode = main()
