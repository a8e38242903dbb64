import { Secret } from '../../protocol/index.ts'
import type { FileKeys } from '../file-keys.ts'
import { Broken, parseYaml, textIn } from '../structured-text.ts'

/** Of a user; those of organisations and apps are renewed by flyctl alone. */
const LASTING = /^(?:fo1_[\w-]+|[\w-]{43})$/

/** The token in flyctl's config.yml. */
export function flyKeys(text: string): FileKeys | Broken {
  const config = parseYaml(text)
  if (config instanceof Broken) return config
  const token = textIn(config, 'access_token')
  if (token === undefined) return { keys: [], elsewhere: [] }
  if (LASTING.test(token)) {
    return { keys: [{ owner: { provider: 'fly-io' }, values: { api_key: new Secret(token) } }], elsewhere: [] }
  }
  return {
    keys: [],
    elsewhere: [
      'its tokens are macaroons that end soon and only flyctl can renew; `fly tokens create org | broker login fly-io` stores one that lasts',
    ],
  }
}
