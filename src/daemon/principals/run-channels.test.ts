import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { generateSigningKey, mintProof, verifyProof } from '../../identity/index.ts'
import { type Actor, Secret } from '../../protocol/index.ts'
import { type Audit, scopeFor } from '../audit/index.ts'
import { openSealing } from '../rights/rights.fixture.ts'
import { openStore } from '../store/index.ts'
import { openPrincipals, type Principals } from './open-principals.ts'

const BASE_URL = 'http://127.0.0.1:7998'
const NOBODY: ReadonlySet<string> = new Set()

describe('a run and its channel', () => {
  let now: number
  let audit: Audit
  let principals: Principals
  let ada: Actor

  beforeEach(async (t) => {
    assert.ok('after' in t)
    now = Date.parse('2026-11-21T12:00:00.000Z')
    const clock = () => now
    const folder = mkdtempSync(join(tmpdir(), 'broker-runs-'))
    const store = await openStore(
      { kind: 'sqlite', path: join(folder, 'broker.db'), replayPath: join(folder, 'replay.db') },
      { now: clock },
    )
    t.after(async () => {
      await store.close()
      rmSync(folder, { recursive: true })
    })
    const sealing = await openSealing(store, { now: clock })
    audit = sealing.audit
    const bootstrapSecret = new Secret('CNRY bootstrap')
    principals = openPrincipals({ store, ...sealing, baseUrl: BASE_URL, bootstrapSecret, now: clock })
    const key = generateSigningKey()
    const proof = () => {
      const jwt = mintProof(key, {
        handle: 'ada',
        method: 'GET',
        url: `${BASE_URL}/`,
        body: Buffer.alloc(0),
        now: clock,
      })
      return verifyProof(jwt, { bodySha256: EMPTY, method: 'GET', target: '/', origins: [BASE_URL], now })
    }
    await principals.register(proof(), { handle: 'ada', did: key.did }, { source: '', bootstrap: bootstrapSecret })
    ada = await principals.authenticate(proof())
  })

  async function startRun(): Promise<string> {
    return (await principals.startRun(ada, { did: generateSigningKey().did })).run_id
  }

  async function endings() {
    const { events } = await audit.page(scopeFor(ada), { event: 'run.ended' })
    return events.map(({ run_id, status, reason, identity }) => ({ run_id, status, reason, identity }))
  }

  it('ends as lost once no daemon has had the channel for half a minute, once', async () => {
    const lost = await startRun()
    await principals.noteChannels([lost])
    now += 30_000
    await principals.endLostRuns(NOBODY)
    assert.deepEqual(await endings(), [])
    now += 1
    await Promise.all([principals.endLostRuns(NOBODY), principals.endLostRuns(NOBODY)])
    const ending = { run_id: lost, status: 'failure', reason: 'lost', identity: 'ada' }
    assert.deepEqual(await endings(), [ending])
    now += 60_000
    await principals.endLostRuns(NOBODY)
    assert.deepEqual(await endings(), [ending])
  })

  it('goes on while this daemon has it, another has noted it, or there never was one', async () => {
    const [held, noted, without] = [await startRun(), await startRun(), await startRun()]
    await principals.noteChannels([held, noted])
    now += 31_000
    await principals.noteChannels([noted])
    await principals.endLostRuns(new Set([held]))
    now += 29_000
    await principals.endLostRuns(new Set([held]))
    assert.deepEqual(await endings(), [])
    for (const id of [held, noted, without]) await principals.endRun(ada, id, 0)
    now += 60_000
    await principals.endLostRuns(NOBODY)
    assert.deepEqual(
      (await endings()).map(({ reason }) => reason),
      ['exit code 0', 'exit code 0', 'exit code 0'],
    )
  })
})

/** SHA-256 of nothing, base64url. */
const EMPTY = '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'
