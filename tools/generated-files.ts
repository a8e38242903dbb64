import { join } from 'node:path'
import { openProviders, type Provider } from '../src/daemon/providers/index.ts'
import { providerJsonSchema } from '../src/schemas/index.ts'
import { root } from './source-files.ts'

export interface GeneratedFile {
  /** From the checkout's root. */
  readonly path: string
  readonly text: string
}

const BEGIN = '<!-- bundled: made by `npm run schema` -->\n'
const END = '<!-- end -->'

/** The JSON Schema of a definition, and the page on providers with its table of the bundled ones. */
export function generatedFiles(read: (path: string) => string): readonly GeneratedFile[] {
  return [
    { path: 'schemas/provider.json', text: `${JSON.stringify(providerJsonSchema(), undefined, 2)}\n` },
    { path: 'docs/providers.md', text: withTable(read('docs/providers.md')) },
  ]
}

function withTable(page: string): string {
  const [before = '', rest = ''] = page.split(BEGIN)
  const [, after = ''] = rest.split(END)
  return `${before}${BEGIN}${bundledTable()}${END}${after}`
}

function bundledTable(): string {
  const bundledDir = join(root, 'providers')
  const rows = openProviders({ bundledDir, customDir: join(bundledDir, 'none') })
    .list()
    .map(row)
  return ['| name | service | hosts | sent as | variables |', '|---|---|---|---|---|', ...rows, ''].join('\n')
}

function row({ definition }: Provider): string {
  const variables = Object.keys(definition.env ?? {}).map((name) => `\`${name}\``)
  const hosts = definition.hosts.map((host) => `\`${host}\``)
  const service =
    definition.docs_url === undefined ? definition.display_name : `[${definition.display_name}](${definition.docs_url})`
  return `| \`${definition.name}\` | ${service} | ${hosts.join('<br>')} | ${form(definition)} | ${variables.join('<br>')} |`
}

function form({ api_key: apiKey = {}, injections = [], headers = {} }: Provider['definition']): string {
  const key = '…'
  const name = apiKey.header_name ?? 'Authorization'
  const basic = `${apiKey.prefix ?? 'Basic'} ${apiKey.username ?? ''}:${key}`
  const value =
    apiKey.encoding === 'basic' ? basic : [apiKey.prefix, key].filter((part) => part !== undefined).join(' ')
  const main = apiKey.query_param === undefined ? `${name}: ${value}` : `?${apiKey.query_param}=${key}`
  const further = injections.map((entry) =>
    entry.type === 'query'
      ? `?${entry.name}=${key}`
      : entry.type === 'header'
        ? `${entry.name}: ${key}`
        : `Basic ${key}`,
  )
  return [main, ...further, ...Object.entries(headers).map(([header, text]) => `${header}: ${text}`)]
    .map((text) => `\`${text}\``)
    .join('<br>')
}
