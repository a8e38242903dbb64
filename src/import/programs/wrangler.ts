import { Secret } from '../../protocol/index.ts'
import type { FileKeys } from '../file-keys.ts'
import { Broken, parseToml, textIn } from '../structured-text.ts'

/** The API token in Wrangler's default.toml; a login in the browser leaves one there that ends after an hour. */
export function wranglerKeys(text: string): FileKeys | Broken {
  const config = parseToml(text)
  if (config instanceof Broken) return config
  const token = textIn(config, 'api_token')
  const isLogin = textIn(config, 'oauth_token') !== undefined
  return {
    keys: token === undefined ? [] : [{ owner: { provider: 'cloudflare' }, values: { api_key: new Secret(token) } }],
    elsewhere: isLogin
      ? [
          'its login ends within the hour and only Wrangler can renew it; make a token at dash.cloudflare.com/profile/api-tokens and store it by `broker login cloudflare`',
        ]
      : [],
  }
}
