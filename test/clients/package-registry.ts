import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pathOf } from '../named-server.ts'
import { sendJson } from './model-apis.ts'
import type { Host } from './service.ts'

const PACKAGES = fileURLToPath(new URL('./programs/packages/', import.meta.url))
const BASE = 'https://registry.npmjs.org/'

/** The registry of npm as far as an install goes, with the packages of `programs/packages`. */
export function packageRegistry(): Host['answer'] {
  return (request, response) => {
    const [, name = '', file] = /^\/([^/]+)(?:\/-\/(.+))?$/.exec(pathOf(request.url)) ?? []
    const found = published().get(name)
    if (found === undefined) sendJson(response, { error: 'Not found' }, 404)
    else if (file === undefined) sendJson(response, found.document)
    else response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(found.tarball)
  }
}

interface Published {
  readonly document: object
  readonly tarball: Buffer
}

let made: ReadonlyMap<string, Published> | undefined

function published(): ReadonlyMap<string, Published> {
  made ??= new Map(readdirSync(PACKAGES).map((name) => [name, publishedOf(name)]))
  return made
}

function publishedOf(name: string): Published {
  const manifest = JSON.parse(readFileSync(join(PACKAGES, name, 'package.json'), 'utf8'))
  const tarball = tarballOf(name)
  const { version } = manifest
  const dist = {
    tarball: `${BASE}${name}/-/${name}-${version}.tgz`,
    shasum: createHash('sha1').update(tarball).digest('hex'),
    integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
  }
  const versions = { [version]: { ...manifest, _id: `${name}@${version}`, dist } }
  const long = '2020-01-01T00:00:00.000Z'
  const time = { created: long, modified: long, [version]: long }
  return { document: { _id: name, name, 'dist-tags': { latest: version }, versions, time }, tarball }
}

function tarballOf(name: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'broker-package-'))
  const file = join(folder, 'package.tgz')
  try {
    execFileSync('tar', ['-czf', file, '--transform', `s,^${name},package,`, '-C', PACKAGES, name])
    return readFileSync(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
