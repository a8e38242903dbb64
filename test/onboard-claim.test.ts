import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { whyNot } from '../tools/available.ts'
import { atTerminal } from './at-terminal.ts'
import { BROKER } from './broker-command.ts'
import { send, startDaemon, temporaryHome } from './daemon-under-test.ts'
import { atOwnTerminal } from './own-terminal.ts'
import { signedIn } from './signed-in-browser.ts'

const ADA = { email: 'ada@example.com', password: 'CNRY correct horse battery' }
const KEY = 'sk-CNRYclaimedclaimedclaimedclaimed'

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
  const terminal = atTerminal(t, ['onboard', '--base-url', daemon.origin], { cwd: folder, env })

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

for (const how of ['Ctrl-C', 'SIGTERM', 'SIGHUP', 'the end of the terminal'] as const) {
  it(`onboarding that waits for the claim is cancelled by ${how}`, { skip: whyNot('python3') }, async (t) => {
    const daemon = await startDaemon(t)
    const home = temporaryHome(t)
    const folder = join(home, '../project')
    mkdirSync(folder)
    const env = { HOME: folder, BROKER_HOME: home, BROKER_PORT: '1' }
    const terminal = await atOwnTerminal(t, [BROKER, 'onboard', '--base-url', daemon.origin], { cwd: folder, env })
    await terminal.sees(/Waiting for the confirmation/)

    if (how === 'Ctrl-C') terminal.type('\u0003')
    else if (how === 'the end of the terminal') terminal.hangUp()
    else process.kill(terminal.pid, how)

    const { code, signal } = await terminal.ended
    assert.deepEqual({ code, signal }, { code: 2, signal: null })
  })
}

it('a daemon with another key is not trusted by the end of input', { skip: whyNot('python3') }, async (t) => {
  const first = await startDaemon(t)
  const home = temporaryHome(t)
  const folder = join(home, '../project')
  mkdirSync(folder)
  const env = { HOME: folder, BROKER_HOME: home, BROKER_PORT: '1' }
  const args = [BROKER, 'onboard', '--base-url', first.origin]
  const known = await atOwnTerminal(t, args, { cwd: folder, env, redirect: { stdin: '/dev/null' } })
  assert.equal((await known.ended).code, 2)
  const config = readFileSync(join(home, 'client', 'config.json'), 'utf8')
  await first.stop()
  await startDaemon(t, { env: { BROKER_PORT: String(first.port) } })

  const terminal = await atOwnTerminal(t, args, { cwd: folder, env })
  await terminal.sees(/Trust it from now on\?/)
  terminal.type('\u0004')

  assert.deepEqual(await terminal.ended, { code: 2, signal: null, isAsBefore: true })
  assert.equal(readFileSync(join(home, 'client', 'config.json'), 'utf8'), config)
})

it('onboarding off a terminal prints the link alone on its line, and the code, as text and as JSON', async (t) => {
  const daemon = await startDaemon(t)
  const ada = await signedIn(daemon, 'register', ADA)
  const home = temporaryHome(t)
  const folder = join(home, '../project')
  mkdirSync(folder)
  const env = { PATH: process.env['PATH'], HOME: folder, BROKER_HOME: home, BROKER_PORT: '1' }
  const onboard = (...args: readonly string[]) =>
    spawnSync(BROKER, ['onboard', '--base-url', daemon.origin, ...args], { cwd: folder, env, encoding: 'utf8' })

  const text = onboard()
  const json = onboard('--json')

  assert.deepEqual([text.status, text.stdout, json.status], [2, '', 2])
  const { error, claim_url, claim_code } = JSON.parse(json.stdout)
  assert.equal(error, 'IdentityNotClaimedError')
  assert.ok(text.stderr.includes(`\n${claim_url}\nThe page must show this code: ${claim_code}\n`), text.stderr)
  const path = new URL(claim_url).pathname
  const page = await send(daemon, 'GET', path, '', { accept: 'text/html', cookie: ada.cookie })
  assert.ok(page.text.includes(`<p class="code">${claim_code}</p>`))
  assert.equal((await ada.call('POST', `${path}/confirm`, { code: claim_code })).status, 200)
  assert.equal(onboard('--json').status, 0)
})
