import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { whyNot } from '../tools/available.ts'
import { suiteCleanup } from './daemon-under-test.ts'
import { onlyWith, startNamedServer } from './named-server.ts'
import { makeWheel, pythonIndex } from './python-index.ts'
import { type RegistryWorld, registryWorld } from './registry-world.ts'
import { markedSecret } from './search-for-secret.ts'

const UPLOAD_TOKEN = markedSecret('pypi-')
const INDEX_TOKEN = markedSecret('')
const basic = (user: string, key: string) => `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`
const INDEX = 'https://packages.acme.example/pypi/'

describe('pip behind broker run', { timeout: 240_000, skip: whyNot('pip') }, () => {
  const cleanup = suiteCleanup()
  const uploads: string[] = []
  let world: RegistryWorld
  before(async () => {
    const takeUpload: RequestListener = (request, response) => {
      let body = ''
      request.setEncoding('latin1').on('data', (chunk) => (body += chunk))
      request.on('end', () => {
        uploads.push(body)
        response.end()
      })
    }
    const index = pythonIndex(INDEX, makeWheel('acme_tools'))
    const server = await startNamedServer({
      'packages.acme.example': onlyWith(basic('ada', INDEX_TOKEN), 'Basic realm="pypi"', index),
      'upload.pypi.org': onlyWith(basic('__token__', UPLOAD_TOKEN), 'Basic realm="pypi"', takeUpload),
    })
    world = await registryWorld(cleanup, server, [
      { provider: 'acme-pypi', input: { username: 'ada', api_key: INDEX_TOKEN } },
      { provider: 'pypi', input: { api_key: UPLOAD_TOKEN } },
    ])
  })

  const pip = (folder: string, ...args: readonly string[]) =>
    world.run(folder, ['/usr/bin/python3', '-m', 'pip', '--disable-pip-version-check', '--no-cache-dir', ...args])

  it('downloads from an index that wants a user name and a token', async () => {
    const folder = world.makeFolder('download', {})
    await pip(folder, 'download', '--index-url', `${INDEX}simple/`, 'acme-tools')
    assert.deepEqual(readdirSync(folder), ['acme_tools-1.0-py3-none-any.whl'])
  })

  it('installs from there, also where the address has a user name and a password in it', async () => {
    const folder = world.makeFolder('install', {})
    const own = `${INDEX}simple/`.replace('://', '://eve:CNRYold@')
    await pip(folder, 'install', '--target', 'here', '--index-url', own, 'acme-tools')
    assert.equal(readFileSync(join(folder, 'here/acme_tools.py'), 'utf8'), 'answer = 42\n')
  })

  it('is let in at once, each time', () => {
    const indexed = world.server.seen.filter(({ host }) => host === 'packages.acme.example')
    assert.ok(indexed.length > 3)
    assert.deepEqual(new Set(indexed.map((one) => one.authorization)), new Set([basic('ada', INDEX_TOKEN)]))
  })

  it('leaves an upload to the token of PyPI, with the variable that twine reads', {
    skip: whyNot('curl'),
  }, async () => {
    const folder = world.makeFolder('upload', { 'acme_tools-1.0.tar.gz': 'not really one' })
    const form = ['-F', ':action=file_upload', '-F', 'content=@acme_tools-1.0.tar.gz']
    const curl = `curl --fail --silent --user "__token__:$TWINE_PASSWORD" ${form.join(' ')} https://upload.pypi.org/legacy/`
    await world.run(folder, ['sh', '-c', curl])
    assert.equal(uploads.length, 1)
    assert.match(uploads[0] ?? '', /name=":action"\r\n\r\nfile_upload\r\n[\s\S]*not really one/)
  })
})
