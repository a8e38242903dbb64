import { Secret } from '../../protocol/index.ts'
import type { FileKey, FileKeys } from '../file-keys.ts'
import { Broken, isTree, parseIni, type Tree, textIn } from '../structured-text.ts'

/** Where an index without a `repository` is, by the name of its section. */
const PLACES: Readonly<Record<string, string>> = { pypi: 'upload.pypi.org', testpypi: 'test.pypi.org' }
const PROVIDERS: ReadonlyMap<string | undefined, string> = new Map([
  ['upload.pypi.org', 'pypi'],
  ['test.pypi.org', 'testpypi'],
])

/** The API tokens of PyPI and TestPyPI in a .pypirc. */
export function pypircKeys(text: string): FileKeys | Broken {
  const config = parseIni(text)
  if (config instanceof Broken) return config
  const indexes = Object.entries(config).flatMap(([name, settings]) => {
    const password = isTree(settings) ? textIn(settings, 'password') : undefined
    return isTree(settings) && password !== undefined ? [{ name, settings, password }] : []
  })
  return {
    keys: indexes.flatMap(({ name, settings, password }): readonly FileKey[] => {
      const provider = PROVIDERS.get(placeOf(name, settings))
      const isKey = provider !== undefined && isToken(settings)
      return isKey ? [{ owner: { provider }, values: { api_key: new Secret(password) } }] : []
    }),
    elsewhere: indexes.flatMap(({ name, settings }) => {
      if (!PROVIDERS.has(placeOf(name, settings))) return [`"${name}" is an index that no provider stands for`]
      return isToken(settings)
        ? []
        : [`"${name}" has a password, which it does not take any more: make an API token there`]
    }),
  }
}

function isToken(settings: Tree): boolean {
  return textIn(settings, 'username') === '__token__'
}

function placeOf(name: string, settings: Tree): string | undefined {
  const repository = textIn(settings, 'repository')
  return repository === undefined ? PLACES[name] : URL.parse(repository)?.hostname
}
