import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BrokerHome, type Ended, onboarded } from './broker-command.ts'
import { type Cleanup, owner } from './daemon-under-test.ts'
import type { NamedServer } from './named-server.ts'
import { searchForSecrets } from './search-for-secret.ts'

const PAGE = fileURLToPath(new URL('../docs/registries.md', import.meta.url))
/** Debian's programs before what a version manager put in front of them: such wrappers look for their like in the home. */
const PATH = `/usr/bin:/bin:${process.env['PATH'] ?? ''}`

export interface RegistryWorld {
  readonly server: NamedServer
  /** Where {@link RegistryWorld.makeFolder} makes folders. */
  readonly folder: string
  /** A new folder with these files in it, by their paths. */
  makeFolder(name: string, files: Readonly<Record<string, string>>): string
  /** The command behind `broker run` in this folder; the exit code is 0. */
  run(folder: string, command: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>
}

/** What a login is for: a bundled provider, or one whose definition stands in `docs/registries.md`. */
export interface Login {
  readonly provider: string
  readonly input: Readonly<Record<string, string>>
}

/** A home that is logged in to these, whose requests all go to the server; no command has shown any of the secrets. */
export async function registryWorld(t: Cleanup, server: NamedServer, logins: readonly Login[]): Promise<RegistryWorld> {
  t.after(() => server.close())
  const environment = { BROKER_PROXY_CONNECT_TO: server.connectTo }
  const world = await onboarded(t, environment)
  const authority = join(dirname(world.home), 'authority.pem')
  writeFileSync(authority, server.caPem)
  await logInToAll(world, logins)
  const secrets = logins.map(({ input }) => input['api_key'] ?? '')
  const makeFolder: RegistryWorld['makeFolder'] = (name, files) => {
    const folder = join(world.folder, name)
    mkdirSync(folder)
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    return folder
  }
  return {
    server,
    folder: world.folder,
    makeFolder,
    async run(folder, command, env = {}) {
      const ended = await world.broker(['run', '--', ...command], {
        cwd: folder,
        // Hosts without a connection show their own certificate; the proxy and the child are told of it alike.
        env: { PATH, BROKER_PROXY_CA_FILE: authority, SSL_CERT_FILE: authority, ...env },
      })
      assert.equal(ended.code, 0, `${ended.stdout}${ended.stderr}`)
      const output = { where: 'output', bytes: `${ended.stdout}${ended.stderr}` }
      assert.deepEqual(searchForSecrets([output], secrets), [])
      return ended
    },
  }
}

async function logInToAll(world: BrokerHome, logins: readonly Login[]): Promise<void> {
  const documented = documentedDefinitions()
  const ada = await owner(world.daemon)
  for (const { provider, input } of logins) {
    const definition = documented.get(provider)
    if (definition !== undefined) {
      const registered = await ada.call('POST', '/api/providers', { definition })
      assert.equal(registered.status, 201, registered.text)
    }
    const session = await ada.call('POST', '/api/auth/sessions', { provider })
    const done = await ada.call('POST', `/api/auth/sessions/${session.body.id}/resume`, { input })
    assert.equal(done.body.status, 'completed', done.text)
  }
}

/** The definitions that the page shows, by name. */
function documentedDefinitions(): ReadonlyMap<string, { readonly name: string }> {
  const blocks = readFileSync(PAGE, 'utf8').matchAll(/^```json\n(.*?)^```$/gms)
  return new Map([...blocks].map(([, text = '']) => JSON.parse(text)).map((one) => [one.name, one]))
}
