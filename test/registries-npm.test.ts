import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { suiteCleanup } from './daemon-under-test.ts'
import { onlyWith, startNamedServer } from './named-server.ts'
import { npmRegistry } from './npm-registry.ts'
import { type RegistryWorld, registryWorld } from './registry-world.ts'
import { markedSecret } from './search-for-secret.ts'

const REGISTRIES = [
  { provider: 'npm', base: 'https://registry.npmjs.org/', variable: 'NPM_TOKEN', key: markedSecret('npm_') },
  { provider: 'github-packages', base: 'https://npm.pkg.github.com/', variable: 'CR_PAT', key: markedSecret('ghp_') },
  {
    provider: 'acme-npm',
    base: 'https://packages.acme.example/npm/',
    variable: 'ACME_NPM_TOKEN',
    key: markedSecret('anpm'),
  },
]
const QUIET = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' }

describe('npm behind broker run', { timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  let world: RegistryWorld
  before(async () => {
    const services = REGISTRIES.map(({ base, key }) => [
      new URL(base).host,
      onlyWith(`Bearer ${key}`, 'Bearer', npmRegistry(base)),
    ])
    world = await registryWorld(
      cleanup,
      await startNamedServer(Object.fromEntries(services)),
      REGISTRIES.map(({ provider, key }) => ({ provider, input: { api_key: key } })),
    )
  })

  for (const { provider, base, variable } of REGISTRIES) {
    const { host, pathname } = new URL(base)
    const registry = `@acme:registry=${base}\n`
    const withToken = `${registry}//${host}${pathname}:_authToken=\${${variable}}\n`
    const manifest = (more: object) => JSON.stringify({ name: '@acme/tools', version: '1.0.0', ...more })

    it(`publishes a scoped package to ${host}, with the variable in .npmrc as documented`, async () => {
      const folder = world.makeFolder(`${provider}-tools`, {
        'package.json': manifest({ main: 'index.js' }),
        'index.js': 'module.exports = 42\n',
        '.npmrc': withToken,
      })
      await world.run(folder, ['npm', 'publish'], QUIET)
    })

    for (const [way, npmrc] of [
      ['with nothing in .npmrc but where it is', registry],
      ['with a token of its own in .npmrc', `${registry}//${host}${pathname}:_authToken=CNRYold\n`],
    ] as const)
      it(`installs it from there ${way}`, async () => {
        const name = `${provider}-app-${way.length}`
        const folder = world.makeFolder(name, {
          'package.json': JSON.stringify({ name: 'app', private: true, dependencies: { '@acme/tools': '1.0.0' } }),
          '.npmrc': npmrc,
        })
        await world.run(folder, ['npm', 'install'], { ...QUIET, npm_config_cache: join(folder, '.cache') })
        assert.equal(readFileSync(join(folder, 'node_modules/@acme/tools/index.js'), 'utf8'), 'module.exports = 42\n')
        assert.doesNotMatch(readFileSync(join(folder, 'package-lock.json'), 'utf8'), /CNRY/)
      })
  }

  it('was let in at once, each time', () => {
    assert.deepEqual(
      new Set(world.server.seen.map(({ host, authorization }) => `${host} ${authorization}`)),
      new Set(REGISTRIES.map(({ base, key }) => `${new URL(base).host} Bearer ${key}`)),
    )
  })
})
