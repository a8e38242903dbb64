import { Secret } from '../../protocol/index.ts'
import type { FileKeys } from '../file-keys.ts'
import { Broken, parseJson, textIn, treeIn } from '../structured-text.ts'

/** The token of the user whom the Netlify CLI has signed in; not the one of GitHub that lies beside it. */
export function netlifyKeys(text: string): FileKeys | Broken {
  const config = parseJson(text)
  if (config instanceof Broken) return config
  const user = treeIn(treeIn(config, 'users'), textIn(config, 'userId') ?? '')
  const token = textIn(treeIn(user, 'auth'), 'token')
  return {
    keys: token === undefined ? [] : [{ owner: { provider: 'netlify' }, values: { api_key: new Secret(token) } }],
    elsewhere: [],
  }
}
