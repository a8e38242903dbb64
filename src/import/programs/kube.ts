import type { FileKeys } from '../file-keys.ts'
import { Broken, isTree, parseYaml, type Tree, textIn, treeIn } from '../structured-text.ts'

/** Names what kubectl's configs have for clusters of one's own. No provider stands for one: nothing is taken. */
export function kubeKeys(...texts: readonly string[]): FileKeys | Broken {
  const why: string[] = []
  for (const [at, text] of texts.entries()) {
    const config = parseYaml(text)
    if (config instanceof Broken) return new Broken(config.line, at)
    why.push(...usersOf(config))
  }
  return { keys: [], elsewhere: why }
}

function usersOf(config: Tree): readonly string[] {
  return listIn(config, 'users').flatMap((entry) => {
    const name = textIn(entry, 'name') ?? ''
    const how = Object.entries(HOW).find(([setting]) => Object.hasOwn(treeIn(entry, 'user'), setting))?.[1]
    return how === undefined ? [] : [`user "${name}" ${how}${clustersOf(config, name)}`]
  })
}

const OWN_CLUSTER =
  'has a token, for a cluster that no provider stands for: define it by `broker provider new <name>`, then `broker login <name>`'
const CERTIFICATE = 'shows a certificate, which is no key that is sent'
const HOW: Readonly<Record<string, string>> = {
  token: OWN_CLUSTER,
  tokenFile: OWN_CLUSTER,
  exec: 'asks a program for its token, which is not run',
  'auth-provider': 'asks a program for its token, which is not run',
  'client-certificate': CERTIFICATE,
  'client-certificate-data': CERTIFICATE,
  password: 'has a password, which clusters do not take any more',
}

/** Returns where contexts send this user. */
function clustersOf(config: Tree, user: string): string {
  const used = listIn(config, 'contexts').map((entry) => treeIn(entry, 'context'))
  const names = new Set(used.filter((one) => textIn(one, 'user') === user).map((one) => textIn(one, 'cluster')))
  const servers = listIn(config, 'clusters')
    .filter((entry) => names.has(textIn(entry, 'name')))
    .flatMap((entry) => URL.parse(textIn(treeIn(entry, 'cluster'), 'server') ?? '')?.host ?? [])
  return servers.length === 0 ? '' : ` (${[...new Set(servers)].join(', ')})`
}

function listIn(tree: Tree, name: string): readonly Tree[] {
  const list = Object.hasOwn(tree, name) ? tree[name] : undefined
  return Array.isArray(list) ? list.filter(isTree) : []
}
