import { Secret } from '../protocol/index.ts'
import type { HostKeys } from './host-keys.ts'

type Node = string | Block | undefined
type Block = Map<string, Node>

interface Line {
  readonly indent: number
  readonly key: string
  /** Undefined where nothing follows the key. */
  readonly value: string | undefined
}

/** The token of github.com in the GitHub CLI's hosts.yml; undefined where the file has another shape than the CLI gives it. */
export function ghHostKeys(text: string): HostKeys | undefined {
  const hosts = parseHosts(text)
  if (!hosts) return undefined
  const github = hosts.get('github.com')
  const token = github instanceof Map ? github.get('oauth_token') : undefined
  if (token instanceof Map) return undefined
  const isInKeyring = github instanceof Map && !token && github.has('user')
  return {
    keys: new Map(token ? [['api.github.com', new Secret(token)]] : []),
    elsewhere: [...(isInKeyring ? [IN_KEYRING] : []), ...enterpriseHosts(hosts).map(ofItsOwn)],
  }
}

const IN_KEYRING =
  'the GitHub CLI keeps its token in the keyring of the operating system; `gh auth token | broker login github` stores it'

function enterpriseHosts(hosts: Block): readonly string[] {
  return [...hosts].flatMap(([host, node]) =>
    host !== 'github.com' && node instanceof Map && node.get('oauth_token') ? [host] : [],
  )
}

function ofItsOwn(host: string): string {
  return `the token of ${host} is for a GitHub Enterprise of its own: \`broker login github --base-url https://${host}\``
}

/** Blocks of `key: value` alone, the part of YAML that the GitHub CLI writes. Everything else is not understood. */
function parseHosts(text: string): Block | undefined {
  const rows = text.split(/\r?\n/).filter((row) => !/^ *(?:#.*)?$/.test(row))
  if (rows[0] === '---') rows.shift()
  const lines = rows.map(parseLine)
  const rest = lines.filter((line) => line !== undefined).reverse()
  if (rest.length < lines.length) return undefined
  const block = takeBlock(rest, 0)
  return rest.length === 0 ? block : undefined
}

function parseLine(row: string): Line | undefined {
  const [, indent, quoted, plain, value = ''] =
    /^( *)(?:"([\w.@+:-]+)"|([\w.@+-]+(?::\d+)?)):(?: +([^ ].*))?$/.exec(row.trimEnd()) ?? []
  const key = quoted ?? plain
  if (indent === undefined || key === undefined) return undefined
  const text = scalar(value)
  return text === null ? undefined : { indent: indent.length, key, value: text }
}

/** Undefined for nothing, null for what is not understood. */
function scalar(value: string): string | undefined | null {
  if (['', '{}', 'null', '~'].includes(value)) return undefined
  const [, double, single] = /^(?:"([^"\\]*)"|'([^']*)')$/.exec(value) ?? []
  const quoted = double ?? single
  if (quoted !== undefined) return quoted
  return /^[\w./]/.test(value) && !/: | #|:$|\t/.test(value) ? value : null
}

/** Takes the lines of one block off the end of `rest`; undefined where a key stands there twice. */
function takeBlock(rest: Line[], indent: number): Block | undefined {
  const block: Block = new Map()
  for (let line = rest.at(-1); line?.indent === indent; line = rest.at(-1)) {
    rest.pop()
    if (block.has(line.key)) return undefined
    const deeper = rest.at(-1)?.indent ?? 0
    const opens = line.value === undefined && deeper > indent
    const node = opens ? takeBlock(rest, deeper) : line.value
    if (opens && !node) return undefined
    block.set(line.key, node)
  }
  return block
}
