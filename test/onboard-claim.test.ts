import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { findProgram, whyNot } from '../tools/available.ts'
import { send, startDaemon, temporaryHome } from './daemon-under-test.ts'
import { signedIn } from './signed-in-browser.ts'

const BROKER = fileURLToPath(new URL('../bin/broker', import.meta.url))
const ADA = { email: 'ada@example.com', password: 'CNRY correct horse battery' }
const KEY = 'sk-CNRYclaimedclaimedclaimedclaimed'

/** A command at a terminal of its own: all it shows, and the first piece of it that fits. */
function atTerminal(t: TestContext, args: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
  const wide = 'import fcntl,termios,struct,sys,pty;fcntl.ioctl(0,termios.TIOCSWINSZ,struct.pack("HHHH",40,200,0,0))'
  const spawning = `import pty,sys,os;sys.exit(os.waitstatus_to_exitcode(pty.spawn(["python3","-c",${JSON.stringify(
    `${wide};import os;os.execv(sys.argv[1],sys.argv[1:])`,
  )}]+sys.argv[1:])))`
  const child = spawn(findProgram('python3') ?? '', ['-c', spawning, BROKER, ...args], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  let shown = ''
  const all = text(child.stdout)
  const firstOf = (pattern: RegExp) =>
    new Promise<string>((resolve) => {
      const look = (chunk: Buffer) => {
        shown += stripVTControlCharacters(chunk.toString())
        const found = pattern.exec(shown)?.[0]
        if (found === undefined) return
        child.stdout.off('data', look)
        resolve(found)
      }
      child.stdout.on('data', look)
    })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { firstOf, ended, all }
}

it('onboarding at a daemon of others waits for the claim, and goes on by itself', {
  skip: whyNot('python3'),
}, async (t) => {
  const daemon = await startDaemon(t)
  const ada = await signedIn(daemon, 'register', ADA)
  const home = temporaryHome(t)
  const folder = join(home, '../project')
  mkdirSync(folder)
  writeFileSync(join(folder, '.env'), `OPENAI_API_KEY=${KEY}\n`)
  const env = { HOME: folder, BROKER_HOME: home, BROKER_PORT: '1' }
  const terminal = atTerminal(t, ['onboard', '--base-url', daemon.origin], folder, env)

  const shown = await terminal.firstOf(/\/api\/claim\/[\w-]+[\s\S]*[A-Z2-9]{4}-[A-Z2-9]{4}/)
  const path = /\/api\/claim\/[\w-]+/.exec(shown)?.[0] ?? ''
  const code = shown.slice(-9)
  const page = await send(daemon, 'GET', path, '', { accept: 'text/html', cookie: ada.cookie })
  assert.ok(page.text.includes(`<p class="code">${code}</p>`), 'the page shows the code of the terminal')
  assert.equal((await ada.call('POST', `${path}/confirm`, { code })).status, 200)

  assert.equal(await terminal.ended, 0)
  const said = stripVTControlCharacters(await terminal.all)
  assert.match(said, /openai +OPENAI_API_KEY +\.env +imported/)
  assert.ok(!said.includes('CNRY'))
  const { connections } = (await ada.call('GET', '/api/connections')).body
  assert.deepEqual(
    connections.map(({ provider }: { provider: string }) => provider),
    ['openai'],
  )
})
