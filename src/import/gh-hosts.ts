import { Secret } from '../protocol/index.ts'
import type { HostKeys } from './host-keys.ts'
import { Broken } from './structured-text.ts'

type Node = string | Block | undefined
type Block = Map<string, Node>

interface Line {
  /** From 1. */
  readonly at: number
  readonly indent: number
  readonly key: string
  /** Undefined where nothing follows the key. */
  readonly value: string | undefined
}

/** The token of github.com in the GitHub CLI's hosts.yml; broken where the file has another shape than the CLI gives it. */
export function ghHostKeys(text: string): HostKeys | Broken {
  const hosts = parseHosts(text)
  if (hosts instanceof Broken) return hosts
  const github = hosts.get('github.com')
  const token = github instanceof Map ? github.get('oauth_token') : undefined
  if (token instanceof Map) return new Broken()
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
function parseHosts(text: string): Block | Broken {
  const rows = text.split(/\r?\n/).map((row, index) => ({ row, at: index + 1 }))
  const filled = rows.filter(({ row }) => !/^ *(?:#.*)?$/.test(row))
  if (filled[0]?.row === '---') filled.shift()
  const lines: Line[] = []
  for (const { row, at } of filled) {
    const line = parseLine(row, at)
    if (!line) return new Broken(at)
    lines.push(line)
  }
  const rest = lines.reverse()
  const block = takeBlock(rest, 0)
  const [left] = rest.slice(-1)
  return left && block instanceof Map ? new Broken(left.at) : block
}

function parseLine(row: string, at: number): Line | undefined {
  const [, indent, quoted, plain, value = ''] =
    /^( *)(?:"([\w.@+:-]+)"|([\w.@+-]+(?::\d+)?)):(?: +([^ ].*))?$/.exec(row.trimEnd()) ?? []
  const key = quoted ?? plain
  if (indent === undefined || key === undefined) return undefined
  const text = scalar(value)
  return text === null ? undefined : { at, indent: indent.length, key, value: text }
}

/** Undefined for nothing, null for what is not understood. */
function scalar(value: string): string | undefined | null {
  if (['', '{}', 'null', '~'].includes(value)) return undefined
  const [, double, single] = /^(?:"([^"\\]*)"|'([^']*)')$/.exec(value) ?? []
  const quoted = double ?? single
  if (quoted !== undefined) return quoted
  return /^[\w./]/.test(value) && !/: | #|:$|\t/.test(value) ? value : null
}

/** Takes the lines of one block off the end of `rest`; broken where a key stands there twice. */
function takeBlock(rest: Line[], indent: number): Block | Broken {
  const block: Block = new Map()
  for (let line = rest.at(-1); line?.indent === indent; line = rest.at(-1)) {
    rest.pop()
    if (block.has(line.key)) return new Broken(line.at)
    const deeper = rest.at(-1)?.indent ?? 0
    const opens = line.value === undefined && deeper > indent
    const node = opens ? takeBlock(rest, deeper) : line.value
    if (node instanceof Broken) return node
    block.set(line.key, node)
  }
  return block
}
