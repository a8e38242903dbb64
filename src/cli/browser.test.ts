import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { openInBrowser } from './browser.ts'

const PLATFORM = 'linux'

describe('a page that is opened in the browser', () => {
  let folder: string
  beforeEach((t) => {
    assert.ok('after' in t)
    folder = mkdtempSync(join(tmpdir(), 'broker-test-'))
    // A program without an ending is what the nearest package says it is.
    writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }')
    t.after(() => rmSync(folder, { recursive: true, force: true }))
  })

  /** A program of this name that writes down what it was called with. */
  function plant(name: string, at = 'bin'): string {
    mkdirSync(join(folder, at), { recursive: true })
    const path = join(folder, at, name)
    const seen = JSON.stringify(join(folder, 'seen'))
    const script = `const fs = require('node:fs')
fs.writeFileSync(${seen} + '.part', JSON.stringify(process.argv.slice(2)))
fs.renameSync(${seen} + '.part', ${seen})`
    writeFileSync(path, `#!${process.execPath}\n${script}\n`)
    chmodSync(path, 0o755)
    return path
  }

  async function seen(url: string, env: Readonly<Record<string, string>>): Promise<readonly string[]> {
    const changes = watch(folder)
    assert.equal(await openInBrowser(url, { env, platform: PLATFORM }), true)
    while (!existsSync(join(folder, 'seen'))) await once(changes, 'change')
    changes.close()
    return JSON.parse(readFileSync(join(folder, 'seen'), 'utf8'))
  }

  it('reaches the opener as one argument, whatever is in it', async () => {
    plant('xdg-open')
    const url = 'https://x.test/$(touch%20planted)?a=`id`&b=" & calc\'|cat'
    assert.deepEqual(await seen(url, { PATH: join(folder, 'bin') }), [new URL(url).href])
  })

  it('goes to the browser that the user has chosen', async () => {
    plant('xdg-open')
    const chosen = plant('my browser', 'chosen')
    rmSync(join(folder, 'bin', 'xdg-open'))
    assert.deepEqual(await seen('http://127.0.0.1:7998/x', { PATH: join(folder, 'bin'), BROWSER: chosen }), [
      'http://127.0.0.1:7998/x',
    ])
  })

  it('is nothing but http or https', () => {
    const hostile = [
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      'vbscript:x',
      'ms-msdt:/id',
      '-x',
      '',
    ]
    for (const url of hostile) {
      assert.throws(() => openInBrowser(url, { env: {}, platform: PLATFORM }), { name: 'InvalidRequestError' }, url)
    }
  })

  it('is left to the user where there is no opener, or only one in a folder that anybody may have filled', async () => {
    plant('xdg-open')
    const before = process.cwd()
    process.chdir(join(folder, 'bin'))
    try {
      for (const PATH of ['.', '', './bin', '/nowhere', `.:${folder}`]) {
        assert.equal(
          await openInBrowser('https://x.test/', { env: { PATH, BROWSER: './xdg-open' }, platform: PLATFORM }),
          false,
        )
      }
    } finally {
      process.chdir(before)
    }
  })
})
