import { Secret } from '../protocol/index.ts'
import type { FileKey, FileKeys } from './file-keys.ts'
import { Broken, isTree, parseJson } from './structured-text.ts'

/** The passwords of registries in docker's config.json. */
export function dockerKeys(text: string): FileKeys | Broken {
  const config = parseJson(text)
  if (config instanceof Broken) return config
  const { auths = {}, credsStore, credHelpers = {} } = config
  if (!isTree(auths) || !isTree(credHelpers)) return new Broken()
  const entries = Object.entries(auths).map(([address, entry]) => ({
    registry: registryOf(address),
    login: loginOf(entry),
    why: whyNot(address, entry),
  }))
  return {
    keys: entries.flatMap(({ registry, login, why }): readonly FileKey[] =>
      login && why === undefined ? [{ owner: { registry }, values: login }] : [],
    ),
    elsewhere: [
      ...entries.flatMap(({ why }) => why ?? []),
      ...(typeof credsStore === 'string' && credsStore !== '' ? [keptBy('its passwords', credsStore)] : []),
      ...Object.entries(credHelpers).map(([registry, program]) =>
        keptBy(`the password of ${registry}`, String(program)),
      ),
    ],
  }
}

function keptBy(what: string, program: string): string {
  return `docker keeps ${what} with the program docker-credential-${program}, which is not run`
}

/** Where a password goes that is kept for another name; `https://index.docker.io/v1/` is what docker calls its own. */
const TOKEN_SERVICES: ReadonlyMap<string, string> = new Map([
  ['docker.io', 'auth.docker.io'],
  ['index.docker.io', 'auth.docker.io'],
  ['registry-1.docker.io', 'auth.docker.io'],
  ['registry.gitlab.com', 'gitlab.com'],
])

function registryOf(address: string): string {
  const [host = ''] = address
    .replace(/^https?:\/\//, '')
    .toLowerCase()
    .split('/', 1)
  return TOKEN_SERVICES.get(host) ?? host
}

/** Where docker puts what a login in the browser gave it, beside the password of the registry itself. */
const WEB_LOGIN = /^(?:https?:\/\/)?(?:index\.)?docker\.io\/v1\/(?:access|refresh)-token\/*$/i

function whyNot(address: string, entry: unknown): string | undefined {
  if (WEB_LOGIN.test(address)) {
    return `"${address}" was left: it is of docker's login in the browser, ends soon, and is no password of the registry; make an access token at hub.docker.com and store it by \`broker login docker-hub\``
  }
  const hasToken = isTree(entry) && typeof entry['identitytoken'] === 'string' && entry['identitytoken'] !== ''
  if (hasToken && loginOf(entry) === undefined)
    return `"${address}" was left: it has a token of a login in the browser (identitytoken), which only docker can exchange, and no password`
  return undefined
}

/** The token of a browser login (`identitytoken`) is the registry's to exchange, and no password. */
function loginOf(entry: unknown): FileKey['values'] | undefined {
  if (!isTree(entry) || typeof entry['auth'] !== 'string') return undefined
  const text = Buffer.from(entry['auth'], 'base64').toString()
  const at = text.indexOf(':')
  const password = text.slice(at + 1).replace(/\0+$/, '')
  if (at < 1 || password === '') return undefined
  return { username: new Secret(text.slice(0, at)), api_key: new Secret(password) }
}
