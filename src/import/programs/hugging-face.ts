import { DEFAULT_CONNECTION, isConnectionName, Secret } from '../../protocol/index.ts'
import { type FileKey, type FileKeys, noConnectionCalled } from '../file-keys.ts'
import { Broken, isTree, parseIni, textIn } from '../structured-text.ts'

interface StoredToken {
  readonly name: string
  readonly token: string
  /** Of a login in the browser, which has to be renewed. */
  readonly ends: boolean
}

/** The active token of Hugging Face, and the stored ones as connections of their names. */
export function huggingFaceKeys(active: string, stored: string): FileKeys | Broken {
  const sections = parseIni(stored)
  if (sections instanceof Broken) return new Broken(sections.line, 1)
  const named = Object.entries(sections).flatMap(([name, settings]): readonly StoredToken[] => {
    const token = isTree(settings) ? textIn(settings, 'hf_token') : undefined
    return isTree(settings) && token !== undefined ? [{ name, token, ends: Object.hasOwn(settings, 'expires_at') }] : []
  })
  const first = active.trim()
  const ends = named.some((one) => one.token === first && one.ends)
  const all = [
    ...(first === '' ? [] : [{ name: DEFAULT_CONNECTION, token: first, ends }]),
    ...named.filter(({ token }) => token !== first),
  ]
  return {
    keys: all.filter((one) => whyNot(one) === undefined).map(keyOf),
    elsewhere: all.flatMap((one) => whyNot(one) ?? []),
  }
}

function keyOf({ name, token }: StoredToken): FileKey {
  return { owner: { provider: 'huggingface' }, connection: name, values: { api_key: new Secret(token) } }
}

function whyNot({ name, token, ends }: StoredToken): string | undefined {
  if (ends || token.startsWith('hf_oauth_')) {
    return `the token "${name}" is of a login in the browser and ends; \`broker login huggingface\` gives Broker one of its own`
  }
  return isConnectionName(name) ? undefined : `the token "${name}" ${noConnectionCalled(name, 'huggingface')}`
}
