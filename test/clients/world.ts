import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type CertificateAuthority, createCertificateAuthority } from '../../src/proxy/index.ts'
import { type BrokerHome, onboarded } from '../broker-command.ts'
import type { Cleanup } from '../daemon-under-test.ts'
import { HOSTS, type Keys, newKeys } from './hosts.ts'
import { endLeftovers } from './leftovers.ts'

/** A home that is logged in to everything the clients ask, as its owner would be. */
export interface World {
  readonly broker: BrokerHome
  readonly keys: Keys
  readonly authority: CertificateAuthority
  /** PEM file of the authority, for the proxy alone. */
  readonly authorityFile: string
  /** A new empty folder. */
  makeFolder(name: string): string
}

const CUSTOM_PROVIDERS = [
  {
    schema_version: 1,
    name: 'acme',
    display_name: 'Acme',
    auth_type: 'api_key',
    flow: 'api_key',
    hosts: ['packages.acme.example', 'mcp.acme.example', 'cluster.acme.example'],
    env: { ACME_TOKEN: 'credential', CARGO_REGISTRIES_ACME_TOKEN: 'credential' },
    api_key: { prefix: 'Bearer' },
  },
]

export async function makeWorld(t: Cleanup): Promise<World> {
  const broker = await onboarded(t)
  const around = dirname(broker.home)
  const authority = createCertificateAuthority(HOSTS, new Date())
  const authorityFile = join(around, 'authority.pem')
  writeFileSync(authorityFile, authority.caPem)
  const rows = join(around, 'rows')
  t.after(() => endLeftovers(rows))
  const keys = newKeys()
  for (const definition of CUSTOM_PROVIDERS) {
    const file = join(around, `${definition.name}.json`)
    writeFileSync(file, JSON.stringify(definition))
    await succeed(broker, ['provider', 'register', file, '--yes'])
  }
  for (const [provider, { input }] of Object.entries(keys)) await succeed(broker, ['login', provider], input)
  let made = 0
  return {
    broker,
    keys,
    authority,
    authorityFile,
    makeFolder(name) {
      const folder = join(rows, `${made++}-${name.replaceAll(/[^A-Za-z0-9]+/g, '-')}`)
      mkdirSync(folder, { recursive: true })
      return folder
    },
  }
}

async function succeed(broker: BrokerHome, args: readonly string[], input = ''): Promise<void> {
  const done = await broker.broker(args, { input: `${input}\n` })
  if (done.code !== 0) throw new Error(`broker ${args.join(' ')}: ${done.stdout}${done.stderr}`)
}
