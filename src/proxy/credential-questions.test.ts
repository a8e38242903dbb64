import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResolvedCredential } from '../injection/index.ts'
import { BrokerError } from '../protocol/index.ts'
import type { ResolveRequest } from '../schemas/index.ts'
import { CredentialQuestions } from './credential-questions.ts'
import { resolution } from './test-stage.ts'

const QUESTION: ResolveRequest = { host: 'api.prov.test', port: 443, method: 'GET', path: '/' }

/** A daemon that answers when it is told to. */
function slowDaemon(timeLimit?: number) {
  const asks: { readonly request: ResolveRequest; answer(outcome: ResolvedCredential | Error): void }[] = []
  let asked = () => {}
  const questions = new CredentialQuestions((request) => {
    const { promise, resolve, reject } = Promise.withResolvers<ResolvedCredential>()
    asks.push({ request, answer: (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)) })
    asked()
    return promise
  }, timeLimit)
  const ask = (more: Partial<ResolveRequest> = {}) =>
    new Promise<ResolvedCredential | Error>((resolve) => questions.ask({ ...QUESTION, ...more }, resolve))
  const untilAsked = async (count: number) => {
    while (asks.length < count)
      await new Promise<void>((resolve) => {
        asked = resolve
      })
  }
  return { asks, ask, untilAsked }
}

test('requests that wait at the same moment share one ask', async () => {
  const daemon = slowDaemon()
  const waiting = [daemon.ask(), daemon.ask(), daemon.ask()]
  await daemon.untilAsked(1)
  const answer = resolution()
  daemon.asks[0]?.answer(answer)
  assert.deepEqual(await Promise.all(waiting), [answer, answer, answer])
  assert.equal(daemon.asks.length, 1)
})

test('a request never takes the answer of an ask that was under way when it came', async () => {
  const daemon = slowDaemon()
  const first = daemon.ask()
  await daemon.untilAsked(1)
  const late = [daemon.ask(), daemon.ask()]
  const [stale, fresh] = [resolution(), resolution()]
  daemon.asks[0]?.answer(stale)
  assert.equal(await first, stale)
  await daemon.untilAsked(2)
  daemon.asks[1]?.answer(fresh)
  assert.deepEqual(await Promise.all(late), [fresh, fresh])
  assert.equal((await Promise.all(late))[0], fresh)
  assert.equal(daemon.asks.length, 2)
})

test('nothing is remembered between asks', async () => {
  const daemon = slowDaemon()
  for (const turn of [1, 2, 3]) {
    const waiting = daemon.ask()
    await daemon.untilAsked(turn)
    daemon.asks[turn - 1]?.answer(resolution())
    await waiting
  }
  assert.equal(daemon.asks.length, 3)
})

test('different questions are asked apart', async () => {
  const daemon = slowDaemon()
  for (const more of [
    {},
    { method: 'POST' },
    { path: '/x' },
    { host: 'b.prov.test' },
    { port: 8443 },
    { rejected_version: 7 },
    { rejected_version: 8 },
  ])
    void daemon.ask(more)
  await daemon.untilAsked(7)
  for (const { answer } of daemon.asks) answer(resolution())
})

test('an error answers everyone who shared the ask, and the next one asks again', async () => {
  const daemon = slowDaemon()
  const waiting = [daemon.ask(), daemon.ask()]
  await daemon.untilAsked(1)
  const error = new BrokerError('ConnectionNotFoundError', 'gone')
  daemon.asks[0]?.answer(error)
  assert.deepEqual(await Promise.all(waiting), [error, error])
  void daemon.ask()
  await daemon.untilAsked(2)
  daemon.asks[1]?.answer(resolution())
})

test('who says that a credential was refused shares the ask with those who say it of the same one, and with nobody else', async () => {
  const daemon = slowDaemon()
  const refused = [daemon.ask({ rejected_version: 7 }), daemon.ask({ rejected_version: 7 })]
  const other = daemon.ask()
  await daemon.untilAsked(2)
  const [fresh, plain] = [resolution({ version: 8 }), resolution({ version: 7 })]
  for (const { request, answer } of daemon.asks) answer(request.rejected_version === 7 ? fresh : plain)
  assert.deepEqual(await Promise.all(refused), [fresh, fresh])
  assert.equal(await other, plain)
})

test('a daemon that has to refresh a token first has 15 seconds', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const daemon = slowDaemon()
  const waiting = daemon.ask()
  await daemon.untilAsked(1)
  t.mock.timers.tick(14_999)
  const answer = resolution()
  daemon.asks[0]?.answer(answer)
  assert.equal(await waiting, answer)
  const hung = daemon.ask()
  await daemon.untilAsked(2)
  t.mock.timers.tick(15_000)
  assert.ok((await hung) instanceof BrokerError)
})

test('a daemon that hangs counts as away after the time limit, and its late answer is nobody’s', async () => {
  const daemon = slowDaemon(50)
  const hung = daemon.ask()
  await daemon.untilAsked(1)
  const next = daemon.ask()
  const outcome = await hung
  assert.ok(outcome instanceof BrokerError)
  assert.equal(outcome.name, 'DaemonUnavailableError')
  await daemon.untilAsked(2)
  const fresh = resolution()
  daemon.asks[0]?.answer(resolution())
  daemon.asks[1]?.answer(fresh)
  assert.equal(await next, fresh)
})
