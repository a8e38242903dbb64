import { mkdirSync } from 'node:fs'
import { migrationsFor } from '../../src/daemon/store/index.ts'
import { generateSigningKey } from '../../src/identity/index.ts'
import { bearerDefinition } from '../acme-home.ts'
import {
  type Answer,
  type Caller,
  type Cleanup,
  connect,
  type DaemonUnderTest,
  startDaemon,
} from '../daemon-under-test.ts'
import { keyOf, layOut, type OldHome, oldHomes } from '../old-homes.ts'
import { markedSecret } from '../search-for-secret.ts'
import { catalogueText, signer } from '../signed-catalogue.ts'
import { type Change, knownOwner, type Truth } from './model.ts'
import { ENV } from './strace.ts'

/** Something a daemon does from its start to its end, in a home of its own. */
export interface Scenario {
  readonly name: string
  /** Makes the home that each run begins with, and what is true of it. */
  prepare(t: Cleanup, home: string): Promise<Truth>
  /** Asks the daemon, and tells what was acknowledged; @throws Unanswered where the daemon went away */
  act(daemon: DaemonUnderTest, record: Recorder): Promise<void>
}

/** Keeps what is true while a scenario goes on. */
export class Recorder {
  #truth: Truth

  constructor(truth: Truth) {
    this.#truth = truth
  }

  get truth(): Truth {
    return this.#truth
  }

  async changeCatalogue(version: string | undefined, work: () => Promise<unknown>): Promise<void> {
    this.#truth = { ...this.#truth, catalogue: { version: this.#truth.catalogue?.version, underWay: version } }
    await work()
    this.#truth = { ...this.#truth, catalogue: { version } }
  }

  async change(change: Change, work: () => Promise<unknown>): Promise<void> {
    this.#truth = { ...this.#truth, underWay: change }
    await work()
    const { underWay: _, ...settled } = this.#truth
    this.#truth = { ...settled, acknowledged: [...settled.acknowledged, change] }
  }
}

export const scenarios: readonly Scenario[] = [firstStart(), ...upgrades(), logins(), catalogueUpdates(), keyChanges()]

function firstStart(): Scenario {
  return {
    name: 'first start',
    async prepare() {
      return { key: generateSigningKey(), acknowledged: [], waiting: [] }
    },
    async act(daemon, { truth }) {
      await knownOwner(daemon, truth.key)
    },
  }
}

/** From each definition that the schema has had, and from the middle of the newest change of it. */
function upgrades(): readonly Scenario[] {
  const shapes = new Map(oldHomes().map((old) => [definitionsOf(old), old]))
  const newest = migrationsFor('sqlite').at(-1)
  const before = [...shapes.values()].findLast(
    ({ statements }) => !statements.some((text) => text.includes(`'${newest?.name}'`)),
  )
  const half = newest && before && upgrade(before, newest.statements.slice(0, Math.ceil(newest.statements.length / 2)))
  return [...[...shapes.values()].map((old) => upgrade(old)), ...(half ? [half] : [])]
}

function definitionsOf({ statements }: OldHome): string {
  return statements
    .filter((statement) => /^create/i.test(statement))
    .toSorted()
    .join()
}

function upgrade(old: OldHome, further: readonly string[] = []): Scenario {
  return {
    name: `upgrade of ${old.commit}${further.length > 0 ? ', half done before' : ''}`,
    async prepare(t, home) {
      const waiting = await waitingAfter(t, old, `${home}-upgraded`)
      layOut(old, home, further)
      const acknowledged = old.connections.map(
        ({ provider, credential }): Change => ({ provider, event: 'provider.login', credential }),
      )
      return { key: keyOf(old), acknowledged, waiting }
    },
    async act(daemon, { truth }) {
      await knownOwner(daemon, truth.key)
    },
  }
}

/** Whose definitions have changed since. */
async function waitingAfter(t: Cleanup, old: OldHome, home: string): Promise<readonly string[]> {
  layOut(old, home)
  const daemon = await startDaemon(t, { home, env: ENV })
  const ada = await knownOwner(daemon, keyOf(old))
  const { body } = await ada.call('GET', '/api/connections')
  await daemon.stop()
  return body.connections
    .filter(({ status }: { status: string }) => status === 'needs_approval')
    .map(({ provider }: { provider: string }) => provider)
}

function logins(): Scenario {
  return {
    name: 'login, login again, logout',
    async prepare(t, home) {
      mkdirSync(home, { mode: 0o700 })
      const key = generateSigningKey()
      const daemon = await startDaemon(t, { home, env: ENV })
      const recorder = new Recorder({ key, acknowledged: [], waiting: [] })
      await login(await knownOwner(daemon, key), recorder, 'openai')
      await daemon.stop()
      return recorder.truth
    },
    async act(daemon, recorder) {
      const ada = await knownOwner(daemon, recorder.truth.key)
      await login(ada, recorder, 'anthropic')
      await login(ada, recorder, 'openai')
      const gone: Change = { provider: 'anthropic', event: 'provider.logout', credential: undefined }
      await recorder.change(gone, async () => {
        acknowledged(await ada.call('POST', '/api/connections/anthropic/default/logout'))
      })
    },
  }
}

function keyChanges(): Scenario {
  return {
    name: 'rotate, rekey, login, rekey again',
    async prepare(t, home) {
      mkdirSync(home, { mode: 0o700 })
      const key = generateSigningKey()
      const daemon = await startDaemon(t, { home, env: ENV })
      const recorder = new Recorder({ key, acknowledged: [], waiting: [] })
      const ada = await knownOwner(daemon, key)
      for (const provider of ['openai', 'anthropic']) await login(ada, recorder, provider)
      await daemon.stop()
      return recorder.truth
    },
    async act(daemon, recorder) {
      const ada = await knownOwner(daemon, recorder.truth.key)
      const rekey = async () => acknowledged(await ada.call('POST', '/api/vault/rekey', { to: 'local_key' }))
      acknowledged(await ada.call('POST', '/api/vault/rotate', {}))
      await rekey()
      await login(ada, recorder, 'openai')
      await rekey()
    },
  }
}

function catalogueUpdates(): Scenario {
  const ours = signer()
  const file = (version: string) => {
    const name = `crash-${version}`
    const definitions = [bearerDefinition(name, 'api.crash.example')].map(({ env: _, ...one }) => one)
    return catalogueText([ours], { catalogue_version: version, definitions })
  }
  return {
    name: 'catalogue update, another, reset',
    async prepare(t, home) {
      mkdirSync(home, { mode: 0o700 })
      const key = generateSigningKey()
      const daemon = await startDaemon(t, { home, env: ENV })
      await knownOwner(daemon, key)
      await daemon.stop()
      return { key, acknowledged: [], waiting: [], catalogue: { version: undefined } }
    },
    async act(daemon, recorder) {
      const ada = await knownOwner(daemon, recorder.truth.key)
      for (const version of ['2026-11-21.1', '2026-11-21.2']) {
        await recorder.changeCatalogue(version, async () => {
          acknowledged(await ada.call('POST', '/api/catalogue', { file: file(version), key: ours.pem }))
        })
      }
      await recorder.changeCatalogue(undefined, async () => acknowledged(await ada.call('DELETE', '/api/catalogue')))
    },
  }
}

const PREFIX: Readonly<Record<string, string>> = { openai: 'sk-', anthropic: 'sk-ant-' }

function login(ada: Caller, recorder: Recorder, provider: string): Promise<void> {
  const key = markedSecret(PREFIX[provider])
  const change: Change = { provider, event: 'provider.login', credential: { api_key: key } }
  return recorder.change(change, () => connect(ada, provider, key, { force: true }))
}

function acknowledged({ status, text }: Answer): void {
  if (status < 200 || status > 299) throw new Error(text)
}
