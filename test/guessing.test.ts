import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Answer, type DaemonUnderTest, send, startDaemon } from './daemon-under-test.ts'
import { cookiesOf } from './signed-in-browser.ts'

const ADA = { email: 'ada@example.com', password: 'CNRY correct horse battery' }
const GUESS = 'CNRY not the right one'

interface From {
  readonly source?: string
  readonly cookie?: string
}

const account = (
  daemon: DaemonUnderTest,
  route: 'register' | 'login',
  login: { readonly email: string; readonly password: string },
  { source = '127.0.0.1', cookie }: From = {},
) =>
  send(
    daemon,
    'POST',
    `/api/auth/${route}`,
    JSON.stringify(login),
    { 'content-type': 'application/json', accept: 'application/json', ...(cookie !== undefined && { cookie }) },
    source,
  )

/** Tries forty times a second, whatever the answers are, until it is stopped. */
function guesser(guess: (count: number) => Promise<Answer>) {
  const answers: Promise<Answer>[] = []
  const timer = setInterval(() => answers.push(guess(answers.length)), 25)
  return {
    async stop(): Promise<readonly Answer[]> {
      clearInterval(timer)
      return Promise.all(answers)
    },
  }
}

const SECONDS = 16

/** Their queue is full in the second of them, and never before it is over empty. */
const SECONDS_OF_A_CROWD = 6

/** Each second once; the statuses, and the longest wait for one of them in milliseconds. */
async function everySecond(seconds: number, signIn: () => Promise<readonly Answer[]>) {
  const rounds: Promise<readonly Answer[]>[] = []
  let slowest = 0
  for (let second = 0; second < seconds; second += 1) {
    const began = performance.now()
    const round = signIn()
    rounds.push(round)
    round.then(() => (slowest = Math.max(slowest, performance.now() - began))).catch(() => undefined)
    await delay(1000)
  }
  return { statuses: (await Promise.all(rounds)).flat().map(({ status }) => status), slowest: Math.round(slowest) }
}

const counted = (statuses: readonly number[], wanted: number) => statuses.filter((status) => status === wanted).length

describe('the right password', () => {
  it('is taken each second while another place guesses forty times as often', async (t) => {
    const daemon = await startDaemon(t)
    const cookie = cookiesOf(await account(daemon, 'register', ADA))
    const guesses = guesser(() => account(daemon, 'login', { ...ADA, password: GUESS }, { source: '127.0.0.2' }))
    const { statuses, slowest } = await everySecond(SECONDS, () =>
      Promise.all([
        // The browser that is known, at the very place of the guesser, and a strange one elsewhere.
        account(daemon, 'login', ADA, { source: '127.0.0.2', cookie }),
        account(daemon, 'login', ADA, { source: '127.0.0.3' }),
      ]),
    )
    const answers = await guesses.stop()
    t.diagnostic(
      `owner in ${counted(statuses, 200)} of ${statuses.length}, the slowest in ${slowest} ms; ${answers.length} guesses`,
    )
    assert.equal(counted(statuses, 200), 2 * SECONDS)
    const looked = counted(
      answers.map(({ status }) => status),
      401,
    )
    assert.ok(looked <= 10, `${looked} guesses were looked at`)
    assert.ok(answers.every(({ status }) => status === 401 || status === 429))
  })

  it('is taken of a known browser each second while guesses from everywhere fill the places where they are checked', async (t) => {
    const daemon = await startDaemon(t)
    const cookie = cookiesOf(await account(daemon, 'register', ADA))
    const guesses = guesser((count) =>
      account(
        daemon,
        'login',
        { email: `nobody${count}@example.com`, password: GUESS },
        { source: `127.${1 + (count >> 8)}.${count & 255}.9` },
      ),
    )
    const { statuses, slowest } = await everySecond(SECONDS_OF_A_CROWD, async () => [
      await account(daemon, 'login', ADA, { cookie }),
    ])
    const answers = await guesses.stop()
    t.diagnostic(
      `owner in ${counted(statuses, 200)} of ${statuses.length}, the slowest in ${slowest} ms; ${answers.length} guesses`,
    )
    assert.equal(counted(statuses, 200), SECONDS_OF_A_CROWD)
    assert.ok(answers.every(({ status }) => status === 401 || status === 429))
  })
})

describe('sixty accounts tried from one place', () => {
  it('get it 429 soon, and nobody elsewhere', async (t) => {
    const daemon = await startDaemon(t)
    await account(daemon, 'register', ADA)
    const statuses: number[] = []
    for (let count = 0; count < 60; count += 1) {
      const login = { email: `person${count}@example.com`, password: GUESS }
      statuses.push((await account(daemon, 'login', login, { source: '127.0.0.2' })).status)
    }
    assert.ok(counted(statuses, 429) >= 35, statuses.join(' '))
    assert.equal((await account(daemon, 'login', ADA, { source: '127.0.0.2' })).status, 429)
    assert.equal((await account(daemon, 'login', ADA, { source: '127.0.0.3' })).status, 200)
  })
})
