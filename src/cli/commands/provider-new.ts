import { existsSync, writeFileSync } from 'node:fs'
import { BrokerError, isProviderName } from '../../protocol/index.ts'
import type { Invocation } from '../invocation.ts'
import { checkOffline } from '../offline-check.ts'
import { isThere } from './provider-export.ts'

export interface NewOptions {
  readonly display?: string
  readonly host?: readonly string[]
  readonly header?: string
  readonly prefix?: string
  readonly query?: string
  readonly env?: readonly string[]
  readonly docs?: string
  /** `-` is standard output; `<name>.json` here where absent. */
  readonly out?: string
  readonly force?: boolean
}

/** Makes a definition of a service with an API key, by what is asked for or was given, that `register` takes. */
export async function newProvider(invocation: Invocation, name: string, options: NewOptions): Promise<void> {
  const { output } = invocation
  if (!isProviderName(name)) throw notAName()
  const out = options.out ?? `${name}.json`
  if (out !== '-' && existsSync(out) && !options.force) throw isThere(out)
  const answers = await answered(invocation, name, options)
  const definition = definitionOf(name, answers)
  await mustBeGood(invocation, definition)
  if (out === '-') return output.document(definition)
  writeFileSync(out, `${JSON.stringify(definition, undefined, 2)}\n`)
  output.result({ status: 'ok', provider: name, file: out }, () => {
    output.done(`Wrote ${out}`)
    const below = answers.host.filter((host) => host.includes('/'))
    if (below.length > 0) output.note(`The key goes to ${below.join(', ')} alone, and to no other path there.`)
    output.note(`Look at it, then: broker provider register ${out}`)
  })
}

interface Answers extends Omit<NewOptions, 'host'> {
  readonly host: readonly string[]
}

async function answered(invocation: Invocation, name: string, options: NewOptions): Promise<Answers> {
  const { host = [], header, prefix, query, env } = options
  const hosts = host.map(hostOf)
  if (!invocation.terminal.canAsk) {
    if (hosts.length === 0) throw noHost(name)
    return { ...options, host: hosts }
  }
  const asked = hosts.length > 0 ? hosts : await askHosts(invocation)
  const isSaid = header !== undefined || prefix !== undefined || query !== undefined
  const way = isSaid ? {} : wayOf(await ask(invocation, WAY_QUESTION))
  const variable =
    env ??
    variablesOf(
      await ask(
        invocation,
        `Environment variable that programs read the key from, such as ${variableFor(name)} (empty for none)`,
      ),
    )
  return { ...options, host: asked, ...way, env: variable }
}

const WAY_QUESTION =
  'How is the key sent? Such as `X-Api-Key: KEY`, `Authorization: Token KEY` or `?key=KEY` (empty for `Authorization: Bearer KEY`)'

async function askHosts(invocation: Invocation): Promise<readonly string[]> {
  const answer = await ask(invocation, 'Hosts of the API, such as api.acme.example (several with commas)', 'required')
  return answer
    .split(/[\s,]+/)
    .filter((one) => one !== '')
    .map(hostOf)
}

async function ask({ terminal }: Invocation, question: string, need?: 'required'): Promise<string> {
  const { signal } = new AbortController()
  const answer = await terminal.ask(question, { isSecret: false, isRequired: need === 'required', signal })
  return answer?.reveal() ?? ''
}

/** Whoever pastes the address of the API means its host, and what is below its path. */
function hostOf(text: string): string {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : undefined
  const [, host = text, path = ''] = /^([^/]+)(\/[^?#]*)/.exec(url ? `${url.host}${url.pathname}` : text) ?? []
  const below = path.replace(/\/?\*?$/, '')
  return below === '' ? (url?.host ?? (path === '/' ? host : text)) : `${host}${below}/*`
}

type Way = Pick<NewOptions, 'header' | 'prefix' | 'query'>

/** @throws BrokerError InvalidRequestError where it says no place that has one header or parameter */
function wayOf(text: string): Way {
  if (text.trim() === '') return { prefix: 'Bearer' }
  const [, query] = /^\?([^=\s]+)=\S*$/.exec(text.trim()) ?? []
  if (query !== undefined) return { query }
  const [, header, rest] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*(.*)$/.exec(text.trim()) ?? []
  const [, prefix] = /^(.*?)\s*KEY$/.exec(rest ?? '') ?? []
  if (header === undefined || prefix === undefined) {
    throw new BrokerError('InvalidRequestError', 'This says neither a header with KEY nor a query parameter', {
      hint: 'Write it as `X-Api-Key: KEY`, `Authorization: Token KEY` or `?key=KEY`.',
    })
  }
  return { ...(header.toLowerCase() !== 'authorization' && { header }), ...(prefix !== '' && { prefix }) }
}

function variablesOf(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((one) => one !== '')
}

function variableFor(name: string): string {
  return `${name
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '_')
    .replace(/^(?=\d)/, 'X')}_API_KEY`
}

function definitionOf(name: string, { display, host, header, prefix, query, env = [], docs }: Answers): object {
  return {
    schema_version: 1,
    name,
    display_name: display ?? titled(name),
    ...(docs !== undefined && { docs_url: docs }),
    auth_type: 'api_key',
    flow: 'api_key',
    hosts: [...new Set(host)],
    ...(env.length > 0 && { env: Object.fromEntries(env.map((variable) => [variable, 'credential'])) }),
    api_key: {
      ...(header !== undefined && { header_name: header }),
      ...(prefix !== undefined && { prefix }),
      ...(query !== undefined && { query_param: query }),
      // What most services do, where nothing was said.
      ...(header === undefined && prefix === undefined && query === undefined && { prefix: 'Bearer' }),
    },
  }
}

function titled(name: string): string {
  return name
    .split(/[-_.]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')
    .trim()
}

async function mustBeGood({ config, output }: Invocation, definition: object): Promise<void> {
  const [verdict] = await checkOffline(config, [definition])
  const [first, ...more] = verdict?.problems ?? []
  if (first === undefined) {
    for (const conflict of verdict?.conflicts ?? []) output.warn(conflict)
    return
  }
  const rest = more.length > 0 ? `, and ${more.length} more` : ''
  throw new BrokerError(
    'InvalidRequestError',
    `Such a definition cannot be used: ${first.path} ${first.message}${rest}`,
    {
      details: [first, ...more],
    },
  )
}

function notAName(): BrokerError {
  return new BrokerError(
    'InvalidRequestError',
    'A provider is named by up to 64 lower-case letters, digits, ".", "_" and "-", the first a letter or digit',
  )
}

function noHost(name: string): BrokerError {
  return new BrokerError('InvalidRequestError', 'Cannot ask for the host of the API: this is no terminal', {
    hint: `broker provider new ${name} --host api.${name}.example --env ${variableFor(name)}`,
  })
}
