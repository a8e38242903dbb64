import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { whyNot } from '../tools/available.ts'
import { crateRegistry } from './crate-registry.ts'
import { suiteCleanup, temporaryHome } from './daemon-under-test.ts'
import { onlyWith, startNamedServer } from './named-server.ts'
import { type RegistryWorld, registryWorld } from './registry-world.ts'
import { markedSecret } from './search-for-secret.ts'

const [CRATES_IO, ACME] = [markedSecret('cio'), markedSecret('')]
const CONFIG = '[registries.acme]\nindex = "https://packages.acme.example/cargo/acme-index"\n'
const SPARSE_CONFIG =
  '[registries.acme]\nindex = "sparse+https://packages.acme.example/cargo/index/"\ncredential-provider = "cargo:token"\n'
const DEPENDENCY = '[dependencies]\nacme-tools = { version = "1", registry = "acme" }\n'
const skip = whyNot('cargo')

function versionOf(program: string): string {
  return skip ? '' : execFileSync(program, ['--version'], { encoding: 'utf8' }).replace(/^cargo /, '')
}

// Debian 12 brings 1.65, Debian 13 1.85.
const isOld = Number(versionOf('/usr/bin/cargo').split('.')[1]) < 74 && 'cargo is older than 1.74'

describe('cargo behind broker run', { timeout: 240_000, skip }, () => {
  const cleanup = suiteCleanup()
  let world: RegistryWorld
  before(async () => {
    const root = join(dirname(temporaryHome(cleanup)), 'indexes')
    mkdirSync(root)
    const acme = crateRegistry('https://packages.acme.example/cargo/', root, 'cargo/acme-index')
    const cratesIo = crateRegistry('https://crates.io/', root, 'rust-lang/crates.io-index')
    const server = await startNamedServer({
      'packages.acme.example': onlyWith(ACME, 'Cargo', acme.service),
      'crates.io': onlyWith(CRATES_IO, 'Cargo', cratesIo.service),
      // One of them is where a cargo looks for the index of crates.io, older and newer ones.
      'github.com': cratesIo.gitIndex,
      'index.crates.io': cratesIo.sparseIndex,
    })
    world = await registryWorld(cleanup, server, [
      { provider: 'acme-crates', input: { api_key: ACME } },
      { provider: 'crates-io', input: { api_key: CRATES_IO } },
    ])
  })

  const cargo = (folder: string, ...args: readonly string[]) =>
    world.run(folder, ['/usr/bin/cargo', ...args], { CARGO_HOME: join(folder, '.cargo-home') })
  const crate = (name: string, more = '') => ({
    'Cargo.toml': `[package]\nname = "${name}"\nversion = "1.0.0"\nedition = "2021"\ndescription = "Tools"\nlicense = "MIT"\n${more}`,
    'src/lib.rs': '',
    '.cargo/config.toml': CONFIG,
  })

  it('publishes to a registry of its own, with the variable that it reads the token from', async () => {
    await cargo(
      world.makeFolder('tools', crate('acme-tools')),
      ...['publish', '--no-verify', '--allow-dirty', '--registry', 'acme'],
    )
  })

  it('fetches from there, where index and downloads want the token', async () => {
    await cargo(world.makeFolder('app', crate('app', DEPENDENCY)), 'fetch')
    const paths = world.server.seen.map(({ host, path }) => `${host}${path}`)
    assert.ok(paths.includes('packages.acme.example/cargo/api/v1/crates/acme-tools/1.0.0/download'))
  })

  it('fetches from an index of plain requests that wants the token each time', { skip: isOld }, async () => {
    const files = { ...crate('sparse-app', DEPENDENCY), '.cargo/config.toml': SPARSE_CONFIG }
    await cargo(world.makeFolder('sparse-app', files), 'fetch')
    assert.ok(world.server.seen.some(({ path }) => path === '/cargo/index/ac/me/acme-tools'))
  })

  it('publishes to crates.io', async () => {
    await cargo(world.makeFolder('public', crate('acme-public')), 'publish', '--no-verify', '--allow-dirty')
  })

  it('sends each registry its own token, and none to the index of crates.io', () => {
    const sent = new Set(world.server.seen.map(({ host, authorization }) => `${host} ${authorization}`))
    const indexes = ['github.com ', 'index.crates.io ']
    assert.deepEqual(
      [...sent].filter((one) => !indexes.includes(one)).toSorted(),
      [`crates.io ${CRATES_IO}`, `packages.acme.example ${ACME}`].toSorted(),
    )
  })
})
