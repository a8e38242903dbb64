import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { generateSigningKey } from '../src/identity/index.ts'
import { whyNot } from '../tools/available.ts'
import { assertHolds, type Change, knownOwner, type Truth } from './crash/model.ts'
import { ENV, type Fault, hitOf, type Point, pointsOf, straceOptions } from './crash/strace.ts'
import { edgesOf } from './crash/sweep.ts'
import { type Cleanup, connect, startDaemon, suiteCleanup } from './daemon-under-test.ts'
import { markedSecret } from './search-for-secret.ts'

const ENTRY = fileURLToPath(new URL('../src/daemon/copy.ts', import.meta.url))
const PASSPHRASE = 'CNRY words for the copy'
/** How many calls of each command are taken; all with `BROKER_SWEEP=all`. */
const TAKEN: Readonly<Record<Fault, number>> = { kill: 2, EIO: 1, ENOSPC: 1 }
const IS_WHOLE = process.env['BROKER_SWEEP'] === 'all'

describe('a copy that is killed, or finds the disk failing or full', {
  skip: whyNot('strace'),
  timeout: 3_600_000,
}, () => {
  const cleanup = suiteCleanup()
  const key = generateSigningKey()
  let folder = ''
  let home = ''
  let file = ''
  let earlier: Truth
  let later: Truth

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'broker-copies-'))
    cleanup.after(() => rmSync(folder, { recursive: true, force: true }))
    home = join(folder, 'home')
    file = join(folder, 'copy.age')
    mkdirSync(home, { mode: 0o700 })
    earlier = await loggedIn(cleanup, 'openai', { key, acknowledged: [], waiting: [] })
    assert.equal((await copy(home, { do: 'backup', file, withKey: true })).code, 0)
    later = await loggedIn(cleanup, 'anthropic', earlier)
  })

  async function loggedIn(t: Cleanup, provider: string, truth: Truth): Promise<Truth> {
    const daemon = await startDaemon(t, { home, env: ENV })
    const ada = await knownOwner(daemon, key)
    const api_key = markedSecret(provider === 'openai' ? 'sk-' : 'sk-ant-')
    await connect(ada, provider, api_key)
    await daemon.stop()
    const change: Change = { provider, event: 'provider.login', credential: { api_key } }
    return { ...truth, acknowledged: [...truth.acknowledged, change] }
  }

  it('leaves the store that was there or the one of the backup, whole, and nothing half', async (t) => {
    const order = { do: 'restore', file }
    const outcomes = await swept('restore', order, async (trial, done) => {
      const isBack = await isRestored(trial, done)
      assert.ok(isBack || !done, 'what was said to be done is done')
      await assertHolds(cleanup, trial, isBack ? earlier : later)
    })
    t.diagnostic(outcomes)
  })

  it('leaves no backup, or one that opens, and the store as it was', async (t) => {
    const outcomes = await swept('backup', { do: 'backup', withKey: true }, async (trial, done) => {
      const made = join(trial, 'own.age')
      assert.ok(existsSync(made) || !done)
      if (existsSync(made)) {
        const inspected = await copy(trial, { do: 'restore', file: made }, 'no')
        assert.match(inspected.said, /"change":\{"made_at"/)
        rmSync(made)
      }
      rmSync(`${made}.partial`, { force: true })
      await assertHolds(cleanup, trial, later)
    })
    t.diagnostic(outcomes)
  })

  /** Does it once whole, and once more for each call that is taken, with a fault there. */
  async function swept(
    name: string,
    order: object,
    check: (trial: string, done: boolean) => Promise<void>,
  ): Promise<string> {
    const trialOf = (id: string) => {
      const place = join(folder, `${name}-${id}`)
      const trial = { home: join(place, 'home'), file: join(place, 'trace') }
      mkdirSync(place)
      cpSync(home, trial.home, { recursive: true })
      return trial
    }
    const run = (trial: ReturnType<typeof trialOf>, fault?: { readonly fault: Fault; readonly point: Point }) =>
      copy(trial.home, { file: join(trial.home, 'own.age'), ...order }, 'go', { trace: trial.file, fault })
    const whole = trialOf('whole')
    const { code, said } = await run(whole)
    assert.equal(code, 0, said)
    const points = pointsOf(whole)
    await check(whole.home, true)
    const counts: string[] = []
    for (const fault of ['kill', 'EIO', 'ENOSPC'] as const) {
      let hits = 0
      for (const [at, point] of some(edgesOf(points), fault).entries()) {
        const trial = trialOf(`${fault}-${at}`)
        const ended = await run(trial, { fault, point })
        const hit = hitOf(trial, fault, point)
        if (hit !== undefined) hits += 1
        try {
          // Who is not killed says what is the matter.
          if (fault !== 'kill' && ended.code !== 0) assert.match(ended.said, /"error":"(?!InternalError)/)
          await check(trial.home, ended.code === 0)
        } catch (cause) {
          throw new Error(`${name}, ${fault} at ${hit ?? point.what}: ${ended.said}`, { cause })
        }
        rmSync(join(trial.home, '..'), { recursive: true, force: true })
      }
      counts.push(`${fault} ${hits}`)
    }
    return `${name}: ${points.length} calls; swept: ${counts.join(', ')}`
  }

  /** Spread over all of them, the last ones among them: there is the change. */
  function some(points: readonly Point[], fault: Fault): readonly Point[] {
    const step = IS_WHOLE ? 1 : Math.max(1, Math.floor(points.length / TAKEN[fault]))
    return points.filter((_, at) => (points.length - 1 - at) % step === 0)
  }

  /** Returns whether the store is the one of the backup. Killed before the last step, it says that it is older, and the way out. */
  async function isRestored(trial: string, done: boolean): Promise<boolean> {
    const store = new DatabaseSync(join(trial, 'server', 'broker.db'))
    const isBack = store.prepare('select count(*) as n from connections').get()?.['n'] === 1
    store.close()
    if (!isBack || done || !existsSync(join(trial, 'server', 'vault-anchor.json'))) return isBack
    const daemon = await startDaemon(cleanup, { home: trial, env: ENV })
    const ada = await knownOwner(daemon, key)
    const { body } = await ada.call('GET', '/api/ready')
    if (body.status !== 'ready') {
      assert.match(body.issues.join(' '), /accept-restore/)
      const bootstrap = readFileSync(join(trial, 'server', 'bootstrap.secret'), 'utf8').trim()
      await ada.call('POST', '/api/vault/restore', {}, { 'x-broker-bootstrap': bootstrap })
    }
    await daemon.stop()
    return isBack
  }
})

interface Traced {
  readonly trace: string
  readonly fault?: { readonly fault: Fault; readonly point: Point } | undefined
}

/** The program that copies, on a home, under strace where that is asked for. */
async function copy(home: string, order: object, answer = 'go', traced?: Traced) {
  const env = {
    ...ENV,
    PATH: process.env['PATH'],
    HOME: home,
    BROKER_HOME: home,
    UV_USE_IO_URING: '0',
    UV_THREADPOOL_SIZE: '1',
  }
  const node = [process.execPath, ENTRY]
  const [file = '', ...args] = traced ? ['strace', ...straceOptions(traced.trace, traced.fault), ...node] : node
  const child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'ignore'] })
  child.stdin.on('error', () => undefined)
  child.stdin.end(`${JSON.stringify({ ...order, passphrase: PASSPHRASE })}\n${answer}\n`)
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  return { code: code as number | null, said }
}
