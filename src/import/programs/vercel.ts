import { Secret } from '../../protocol/index.ts'
import type { FileKeys } from '../file-keys.ts'
import { Broken, parseJson, textIn } from '../structured-text.ts'

/** The token in the Vercel CLI's auth.json; that of a login since 2025 ends after hours. */
export function vercelKeys(text: string): FileKeys | Broken {
  const auth = parseJson(text)
  if (auth instanceof Broken) return auth
  const token = textIn(auth, 'token')
  if (token === undefined) return { keys: [], elsewhere: [] }
  if (!Object.hasOwn(auth, 'refreshToken') && !Object.hasOwn(auth, 'expiresAt')) {
    return { keys: [{ owner: { provider: 'vercel' }, values: { api_key: new Secret(token) } }], elsewhere: [] }
  }
  return {
    keys: [],
    elsewhere: [
      'its login ends within hours and only the Vercel CLI can renew it; make a token at vercel.com/account/tokens and store it by `broker login vercel`',
    ],
  }
}
