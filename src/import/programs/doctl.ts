import { DEFAULT_CONNECTION, isConnectionName, Secret } from '../../protocol/index.ts'
import { type FileKey, type FileKeys, noConnectionCalled } from '../file-keys.ts'
import { Broken, parseYaml, type Tree, textIn, treeIn } from '../structured-text.ts'

/** The tokens in doctl's config.yaml: each authentication context becomes a connection of its name. */
export function doctlKeys(text: string): FileKeys | Broken {
  const config = parseYaml(text)
  if (config instanceof Broken) return config
  const api = textIn(config, 'api-url')
  const host = api === undefined ? undefined : URL.parse(api)?.hostname
  if (api !== undefined && host !== 'api.digitalocean.com') {
    return { keys: [], elsewhere: ['its tokens are for another address than api.digitalocean.com (api-url)'] }
  }
  const contexts = [...tokensIn(config)]
  const [usable, others] = [true, false].map((is) => contexts.filter(([name]) => isConnectionName(name) === is))
  return {
    keys: (usable ?? []).map(
      ([connection, token]): FileKey => ({
        owner: { provider: 'digitalocean' },
        connection,
        values: { api_key: new Secret(token) },
      }),
    ),
    elsewhere: (others ?? []).map(([name]) => `context "${name}" ${noConnectionCalled(name, 'digitalocean')}`),
  }
}

/** By context; the one without a name is the default. */
function tokensIn(config: Tree): ReadonlyMap<string, string> {
  const contexts = treeIn(config, 'auth-contexts')
  const [first, named] = [textIn(config, 'access-token'), Object.keys(contexts)]
  const entries = named.flatMap((name): readonly (readonly [string, string])[] => {
    const token = textIn(contexts, name)
    return token === undefined ? [] : [[name, token]]
  })
  return new Map([...(first === undefined ? [] : [[DEFAULT_CONNECTION, first] as const]), ...entries])
}
