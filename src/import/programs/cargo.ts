import { Secret } from '../../protocol/index.ts'
import type { FileKeys } from '../file-keys.ts'
import { Broken, isTree, parseToml, textIn, treeIn } from '../structured-text.ts'

const CRATES_IO = 'crates-io'

/** The token of crates.io in Cargo's credentials. */
export function cargoKeys(text: string): FileKeys | Broken {
  const credentials = parseToml(text)
  if (credentials instanceof Broken) return credentials
  const registries = treeIn(credentials, 'registries')
  const token = textIn(treeIn(credentials, 'registry'), 'token') ?? textIn(treeIn(registries, CRATES_IO), 'token')
  const others = Object.entries(registries).filter(
    ([name, registry]) => name !== CRATES_IO && isTree(registry) && textIn(registry, 'token') !== undefined,
  )
  return {
    keys: token === undefined ? [] : [{ owner: { provider: CRATES_IO }, values: { api_key: new Secret(token) } }],
    elsewhere: others.map(
      ([name]) => `the token of "${name}" is for a registry of its own, which no provider stands for`,
    ),
  }
}
