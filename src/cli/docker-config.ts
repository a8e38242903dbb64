import { Secret } from '../protocol/index.ts'
import type { FileKey, FileKeys } from './file-keys.ts'

/** The passwords of registries in docker's config.json; undefined where it has another shape. */
export function dockerKeys(text: string): FileKeys | undefined {
  const config = parseObject(text)
  if (!config) return undefined
  const { auths = {}, credsStore, credHelpers = {} } = config
  if (!isObject(auths) || !isObject(credHelpers)) return undefined
  const entries = Object.entries(auths).map(([address, entry]) => ({
    registry: registryOf(address),
    login: loginOf(entry),
  }))
  return {
    keys: entries.flatMap(({ registry, login }): readonly FileKey[] =>
      login ? [{ owner: { registry }, values: login }] : [],
    ),
    elsewhere: [
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

/** The token of a browser login (`identitytoken`) is the registry's to exchange, and no password. */
function loginOf(entry: unknown): FileKey['values'] | undefined {
  if (!isObject(entry) || typeof entry['auth'] !== 'string') return undefined
  const text = Buffer.from(entry['auth'], 'base64').toString()
  const at = text.indexOf(':')
  const password = text.slice(at + 1).replace(/\0+$/, '')
  if (at < 1 || password === '') return undefined
  return { username: new Secret(text.slice(0, at)), api_key: new Secret(password) }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
