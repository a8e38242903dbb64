import { Secret } from '../../protocol/index.ts'
import type { FileKey, FileKeys } from '../file-keys.ts'
import { Broken, isTree, parseYaml, type Tree, textIn, treeIn } from '../structured-text.ts'

const OWN_HOST = 'gitlab.com'

/** The token of gitlab.com in the GitLab CLI's config.yml. */
export function glabKeys(text: string): FileKeys | Broken {
  const config = parseYaml(text)
  if (config instanceof Broken) return config
  const hosts = Object.entries(treeIn(config, 'hosts')).filter((entry): entry is [string, Tree] => isTree(entry[1]))
  return {
    keys: hosts.flatMap(([host, settings]) => keyOf(host, settings) ?? []),
    elsewhere: hosts.flatMap(([host, settings]) => whyNot(host, settings) ?? []),
  }
}

function keyOf(host: string, settings: Tree): FileKey | undefined {
  const token = textIn(settings, 'token')
  if (token === undefined || whyNot(host, settings) !== undefined) return undefined
  return { owner: { provider: 'gitlab' }, values: { api_key: new Secret(token) } }
}

function whyNot(host: string, settings: Tree): string | undefined {
  const place = textIn(settings, 'api_host') ?? host
  if (textIn(settings, 'token') === undefined) {
    if (textIn(settings, 'user') === undefined || place !== OWN_HOST) return undefined
    return 'it has no token of gitlab.com, which the keyring may have; `broker login gitlab` stores one'
  }
  if (place !== OWN_HOST) {
    return `the token of ${place} is for a GitLab of its own: \`broker login gitlab --base-url https://${place}\``
  }
  if (String(settings['is_oauth2']) !== 'true') return undefined
  return 'its login at gitlab.com ends within hours and only glab can renew it; `broker login gitlab` gives Broker one of its own'
}
