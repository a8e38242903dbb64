import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type LocalApi, startLocalApi } from '../demo/local-api.ts'
import { type BrokerHome, logIn, onboarded } from './broker-command.ts'
import { type Cleanup, temporaryHome } from './daemon-under-test.ts'

export interface AcmeHome {
  readonly api: LocalApi
  readonly world: BrokerHome
}

/**
 * A home whose providers are all one local TLS API that wants `key`: by provider name its host, each connected with the key.
 * `strangers` are further hosts of that API, of no provider.
 */
export async function acmeHome(
  cleanup: Cleanup,
  {
    providers,
    strangers = [],
    key,
    env = {},
  }: {
    readonly providers: Readonly<Record<string, string>>
    readonly strangers?: readonly string[]
    readonly key: string
    /** Further settings of the daemon and of every command. */
    readonly env?: Readonly<Record<string, string>>
  },
): Promise<AcmeHome> {
  const hosts = [...Object.values(providers), ...strangers]
  const api = await startLocalApi(hosts, key)
  cleanup.after(() => api.close())
  const authority = join(dirname(temporaryHome(cleanup)), 'authority.pem')
  writeFileSync(authority, api.caPem)
  const world = await onboarded(cleanup, {
    ...env,
    BROKER_PROXY_CONNECT_TO: hosts.map((host) => `${host}:443:127.0.0.1:${api.port}`).join(),
    BROKER_PROXY_CA_FILE: authority,
  })
  for (const [name, host] of Object.entries(providers)) {
    const file = join(world.folder, `${name}.json`)
    writeFileSync(file, JSON.stringify(bearerDefinition(name, host)))
    assert.equal((await world.broker(['provider', 'register', file, '--yes'])).code, 0)
    await logIn(world, name, key)
  }
  return { api, world }
}

/** A provider that takes its key as a bearer token, and has `<NAME>_API_KEY` for it. */
export function bearerDefinition(name: string, host: string) {
  return {
    schema_version: 1,
    name,
    display_name: name,
    auth_type: 'api_key',
    flow: 'api_key',
    hosts: [host],
    env: { [`${name.toUpperCase()}_API_KEY`]: 'credential' },
    api_key: { header_name: 'Authorization', prefix: 'Bearer' },
  }
}
