import { Secret } from '../protocol/index.ts'
import type { FileKeys } from './file-keys.ts'
import { Broken, parseJson, textIn } from './structured-text.ts'

/** The key file of a service account; broken where it is no credentials file of Google's. */
export function googleKeys(text: string): FileKeys | Broken {
  const file = parseJson(text)
  if (file instanceof Broken) return file
  const type = textIn(file, 'type')
  if (type === undefined) return new Broken()
  if (type === 'service_account') {
    return {
      keys: [{ owner: { provider: 'google-cloud' }, values: { service_account: new Secret(text) } }],
      elsewhere: [],
    }
  }
  return {
    keys: [],
    elsewhere: [Object.hasOwn(NOT_TAKEN, type) ? (NOT_TAKEN[type] ?? '') : 'it holds no key of a service account'],
  }
}

const NOT_TAKEN: Readonly<Record<string, string>> = {
  authorized_user:
    "it holds your login at gcloud itself, which only gcloud's own client can use; `broker login google-cloud` gives Broker one of its own",
  impersonated_service_account: 'it impersonates a service account and holds no key of it',
  external_account: 'it gets tokens from another identity provider and holds no key',
}
