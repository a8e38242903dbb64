import { join } from 'node:path'
import type { Command } from 'commander'
import { createProgram } from '../src/cli/index.ts'
import {
  definitionFolder,
  digestOfDefinitions,
  hasSection,
  openProviders,
  type Provider,
  type Providers,
  passwordTemplate,
} from '../src/daemon/providers/index.ts'
import { placeTypeOf } from '../src/injection/index.ts'
import { KNOWN_LIMITS } from '../src/run/index.ts'
import { providerJsonSchema } from '../src/schemas/index.ts'
import { arrowsTable } from './arrows-table.ts'
import { root } from './source-files.ts'

export interface GeneratedFile {
  /** From the checkout's root. */
  readonly path: string
  readonly text: string
}

const CATALOGUE = 'src/daemon/providers/shipped-catalogue.ts'
const BUNDLED = join(root, 'providers')
const END = '<!-- end -->'

/** The JSON Schema of a definition, and the pages with a part that is made from the sources. */
export function generatedFiles(read: (path: string) => string): readonly GeneratedFile[] {
  const page = (path: string, part: string, text: string) => ({ path, text: withPart(read(path), part, text) })
  return [
    { path: 'schemas/provider.json', text: `${JSON.stringify(providerJsonSchema(), undefined, 2)}\n` },
    {
      path: CATALOGUE,
      text: read(CATALOGUE).replace(/(?<=CHECKED_DEFINITIONS = ').*(?=')/, checkedDefinitions()),
    },
    page('docs/providers.md', 'bundled', bundledTable()),
    page('docs/commands.md', 'commands', commandList()),
    page('docs/run.md', 'limits', limitsTable()),
    page('ARCHITECTURE.md', 'arrows', arrowsTable()),
  ]
}

function withPart(page: string, part: string, text: string): string {
  const begin = `<!-- ${part}: made by \`npm run schema\` -->\n`
  const [before = '', rest = ''] = page.split(begin)
  const [, ...after] = rest.split(END)
  return `${before}${begin}${text}${END}${after.join(END)}`
}

/** Every command with its options and example, as its own help has them. */
function commandList(): string {
  return leaves(createProgram('', async () => {}))
    .map(commandEntry)
    .join('')
}

function leaves(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves)
}

function commandEntry(command: Command): string {
  const options = command.options
    .filter(({ hidden }) => !hidden)
    .map((option) => `- \`${option.flags}\`: ${option.description}`)
  const example = /\n( *\$ .*)/.exec(helpOf(command))?.[1]?.trim() ?? ''
  const parts = [`### \`${fullName(command)}\``, capital(command.description()), `\`\`\`console\n${example}\n\`\`\``]
  return `${[...parts, ...(options.length > 0 ? [options.join('\n')] : [])].join('\n\n')}\n\n`
}

function fullName(command: Command): string {
  const names = [command.name()]
  for (let parent = command.parent; parent; parent = parent.parent) names.unshift(parent.name())
  const words = command.registeredArguments.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`))
  return [...names, ...words].join(' ')
}

function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (part) => (text += part) })
  command.outputHelp()
  return text
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function limitsTable(): string {
  const rows = KNOWN_LIMITS.map(({ name, what, way }) => `| ${name} | ${what} | ${way} |`)
  return ['| what | why | the way round |', '|---|---|---|', ...rows, ''].join('\n')
}

/** @throws where one of them breaks a rule */
function checkedDefinitions(): string {
  const { issues } = bundledProviders().health()
  if (issues.length > 0) throw new Error(issues.join('\n'))
  return digestOfDefinitions(BUNDLED)
}

function bundledProviders(): Providers {
  return openProviders({ bundledDir: BUNDLED, custom: definitionFolder(join(BUNDLED, 'none')) })
}

function bundledTable(): string {
  const rows = bundledProviders().list().map(row)
  const head = '| name | service | login | hosts | sent as | variables | verified |'
  return [head, '|---|---|---|---|---|---|---|', ...rows, ''].join('\n')
}

function row({ definition }: Provider): string {
  const variables = Object.keys(definition.env ?? {}).map((name) => `\`${name}\``)
  const hosts = definition.hosts.map((host) => `\`${host}\``)
  const service =
    definition.docs_url === undefined ? definition.display_name : `[${definition.display_name}](${definition.docs_url})`
  return `| \`${definition.name}\` | ${service} | ${flows(definition).join('<br>')} | ${hosts.join('<br>')} | ${forms(definition)} | ${variables.join('<br>')} | ${verified(definition)} |`
}

function verified({ last_verified: day = '', sources = [] }: Provider['definition']): string {
  return sources.map((source, index) => `[${index === 0 ? day : index + 1}](${source})`).join(' ')
}

function flows(definition: Provider['definition']): readonly string[] {
  const { oauth, signing, flow } = definition
  const hasKey = hasSection(definition, 'api_key')
  const isForClients = hasSection(definition, 'client_credentials')
  const hasBrowserLogin = oauth?.authorization_url !== undefined
  const hasDeviceLogin = oauth?.device_authorization_url !== undefined
  const hasChoice = hasKey || oauth !== undefined
  const others = [
    (hasKey || isForClients) && 'api_key',
    hasKey && isForClients && '--client-credentials',
    hasBrowserLogin && 'pkce',
    hasDeviceLogin && 'device_code',
    hasChoice && signing && '--signing-key',
  ]
  return [...new Set([flow, ...others.filter((one) => typeof one === 'string')])].map((one) => `\`${one}\``)
}

/** Returns how a key is sent, how a token, in which form on some hosts, and what goes with any. */
function forms(definition: Provider['definition']): string {
  const { hosts, injections = [], oauth, signing, headers = {} } = definition
  const api_key = hasSection(definition, 'api_key') ? definition.api_key : undefined
  const isElsewhere = hosts.every((host) => injections.some((entry) => entry.hosts?.includes(host)))
  const ofKey = api_key === undefined || isElsewhere ? [] : [keyForm(api_key)]
  const ofToken =
    oauth === undefined ? [] : [`${oauth.header_name ?? 'Authorization'}: ${`${oauth.prefix ?? 'Bearer'} …`.trim()}`]
  return [
    ...new Set([
      ...ofKey,
      ...ofToken,
      ...(signing?.type === 'aws_sigv4' ? ['Authorization: AWS4-HMAC-SHA256 …'] : []),
      ...injections.map(furtherForm),
      ...Object.entries(headers).map(([name, text]) => `${name}: ${text}`),
    ]),
  ]
    .map((text) => `\`${text}\``)
    .join('<br>')
}

type Section<Name extends keyof Provider['definition']> = NonNullable<Provider['definition'][Name]>

function keyForm(apiKey: Section<'api_key'>): string {
  const key = '…'
  const name = apiKey.header_name ?? 'Authorization'
  const pair = `${apiKey.username ?? ''}:${passwordTemplate(apiKey)}`.replaceAll('{api_key}', key)
  const basic = `${apiKey.prefix ?? 'Basic'} ${pair}`
  const plain = apiKey.value ?? [apiKey.prefix, key].filter((part) => part !== undefined).join(' ')
  const value = apiKey.encoding === 'basic' ? basic : plain.replaceAll('{api_key}', key)
  return apiKey.query_param === undefined ? `${name}: ${value}` : `?${apiKey.query_param}=${value}`
}

function furtherForm(entry: Section<'injections'>[number]): string {
  const on = entry.hosts === undefined ? '' : ` on ${entry.hosts.join(', ')}`
  return `${placeTypeOf(entry).documented(entry)}${on}`
}
