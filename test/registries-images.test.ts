import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { whyNot } from '../tools/available.ts'
import { suiteCleanup, temporaryHome } from './daemon-under-test.ts'
import { makeImage, startImageRegistry } from './image-registry.ts'
import { onlyWith, startNamedServer } from './named-server.ts'
import { type RegistryWorld, registryWorld } from './registry-world.ts'
import { markedSecret } from './search-for-secret.ts'

const [GITHUB, HUB, ACME] = [markedSecret('ghp_'), markedSecret('dckr_pat_'), markedSecret('')]
const basic = (user: string, key: string) => `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`
const BLOBS = 'pkg-containers.githubusercontent.com'
const skip = whyNot('skopeo') || whyNot('docker registry') || whyNot('openssl')

describe('registries of images behind broker run', { timeout: 240_000, skip }, () => {
  const cleanup = suiteCleanup()
  let world: RegistryWorld
  before(async () => {
    const images = await startImageRegistry(join(dirname(temporaryHome(cleanup)), 'images'))
    cleanup.after(() => images.close())
    const github = {
      tokens: onlyWith(basic('x-access-token', GITHUB), 'Basic realm="tokens"', images.tokenService()),
      images: images.redirectingRegistry('https://ghcr.io/token', BLOBS),
    }
    const server = await startNamedServer({
      'ghcr.io': (request, response) =>
        request.url?.startsWith('/token?') ? github.tokens(request, response) : github.images(request, response),
      [BLOBS]: images.blobs(),
      'auth.docker.io': onlyWith(basic('ada', HUB), 'Basic realm="tokens"', images.tokenService()),
      'registry-1.docker.io': images.registry('https://auth.docker.io/token'),
      'images.acme.example': onlyWith(basic('ada', ACME), 'Basic realm="images"', images.openRegistry()),
    })
    world = await registryWorld(cleanup, server, [
      { provider: 'github-packages', input: { api_key: GITHUB } },
      { provider: 'docker-hub', input: { username: 'ada', api_key: HUB } },
      { provider: 'acme-images', input: { username: 'ada', api_key: ACME } },
    ])
    makeImage(world.makeFolder('image', {}))
  })

  const skopeo = (...args: readonly string[]) =>
    world.run(join(world.folder, 'image'), ['skopeo', '--insecure-policy', ...args])
  const authorizations = (host: string, isWanted: (path: string) => boolean = () => true) =>
    world.server.seen.filter((one) => one.host === host && isWanted(one.path)).map(({ authorization }) => authorization)

  for (const name of ['ghcr.io/acme/app', 'docker.io/acme/app', 'images.acme.example/acme/app'])
    it(`pushes to ${name} and pulls from it`, async () => {
      const pulled = `../pulled-${name.split('/', 1)[0]}`
      await skopeo('copy', 'oci:.', `docker://${name}:1`)
      await skopeo('copy', `docker://${name}:1`, `dir:${pulled}`)
      const manifest = JSON.parse(readFileSync(join(world.folder, 'image', pulled, 'manifest.json'), 'utf8'))
      assert.equal(manifest.layers.length, 1)
    })

  it('goes on where a script logs in with the placeholder first', async () => {
    const kept = ['--authfile', 'auth.json']
    const login = `skopeo login ${kept.join(' ')} --username ada --password "$GHCR_TOKEN" ghcr.io`
    await world.run(join(world.folder, 'image'), ['sh', '-c', login])
    await skopeo('inspect', ...kept, 'docker://ghcr.io/acme/app:1')
  })

  it('sends the credential to the token service, and leaves the tokens of the registry as they are', () => {
    const isToken = (path: string) => path === '/token'
    assert.deepEqual(new Set(authorizations('ghcr.io', isToken)), new Set([basic('x-access-token', GITHUB)]))
    assert.deepEqual(new Set(authorizations('auth.docker.io')), new Set([basic('ada', HUB)]))
    for (const sent of [authorizations('ghcr.io', (path) => !isToken(path)), authorizations('registry-1.docker.io')]) {
      assert.ok(sent.some((one) => one.startsWith('Bearer ey')))
      assert.ok(sent.every((one) => one === '' || one.startsWith('Bearer ey')))
    }
  })

  it('sends nothing to where a registry redirects for its blobs', () => {
    const sent = authorizations(BLOBS)
    assert.ok(sent.length > 0)
    assert.deepEqual(new Set(sent), new Set(['']))
  })
})
