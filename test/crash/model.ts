import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SigningKey } from '../../src/identity/index.ts'
import { type Caller, type Cleanup, caller, type DaemonUnderTest, startDaemon } from '../daemon-under-test.ts'
import { filesBelow, searchForSecrets } from '../search-for-secret.ts'
import { ENV } from './strace.ts'

/** What became of one connection: its event, and the secrets it has then; undefined for none. */
export interface Change {
  readonly provider: string
  readonly event: 'provider.login' | 'provider.logout'
  readonly credential: Readonly<Record<string, string>> | undefined
}

/** What must be true of a home: every change that was acknowledged, and the one that was under way or failed, whole or not at all. */
export interface Truth {
  readonly key: SigningKey
  readonly acknowledged: readonly Change[]
  readonly underWay?: Change
  /** Connections that are listed, but wait for approval. */
  readonly waiting: readonly string[]
  /** Version of the catalogue file in use, undefined where none is; and the one that was being put to use. */
  readonly catalogue?: { readonly version: string | undefined; readonly underWay?: string | undefined }
}

/** Starts the home as it was left, and holds it against what must be true. @throws where it is not */
export async function assertHolds(t: Cleanup, home: string, truth: Truth): Promise<void> {
  const daemon = await startDaemon(t, { home, env: ENV })
  const ada = await knownOwner(daemon, truth.key)
  await assertReady(ada)
  await assertConnections(ada, truth)
  await assertCatalogue(ada, truth)
  assert.equal(await daemon.stop(), 0, `it ends in order: ${daemon.output()}`)
  assertNothingLeft(home, truth)
}

/** Registers again: that answers alike whether it was done before. */
export async function knownOwner(daemon: DaemonUnderTest, key: SigningKey): Promise<Caller> {
  const ada = caller(daemon, 'ada', key)
  const bootstrap = readFileSync(join(daemon.home, 'server', 'bootstrap.secret'), 'utf8').trim()
  const { status, text } = await ada.call(
    'POST',
    '/api/identities/register',
    { handle: 'ada', did: key.did },
    { 'x-broker-bootstrap': bootstrap },
  )
  assert.ok(status === 200 || status === 201, `the owner is known, or made: ${text}`)
  return ada
}

/** Readiness opens every record, and walks the chain of the audit log. */
async function assertReady(ada: Caller): Promise<void> {
  const { text, body } = await ada.call('GET', '/api/ready')
  assert.equal(body?.status, 'ready', text)
}

async function assertConnections(ada: Caller, { acknowledged, underWay, waiting }: Truth): Promise<void> {
  const { body: list } = await ada.call('GET', '/api/connections')
  const listed = new Map<string, string>(
    list.connections.map((one: { provider: string; status: string }) => [one.provider, one.status]),
  )
  const providers = new Set([...acknowledged, ...(underWay ? [underWay] : [])].map(({ provider }) => provider))
  assert.deepEqual(
    [...listed.keys()].filter((provider) => !providers.has(provider)),
    [],
    'nothing is there that nobody made',
  )
  for (const provider of providers) {
    const found = await credentialOf(ada, provider)
    const last = acknowledged.findLast((change) => change.provider === provider)
    const isDone = underWay?.provider === provider && isSame(found, underWay.credential)
    assert.ok(isDone || isSame(found, last?.credential), `${provider} has what it was given last, whole`)
    assert.equal(listed.has(provider), found !== undefined, `${provider} is listed as it is`)
    const status = waiting.includes(provider) ? 'needs_approval' : 'connected'
    if (found !== undefined) assert.equal(listed.get(provider), status)
    if (found !== undefined && provider === 'openai') await assertResolves(ada, found)
    const happened = [...acknowledged, ...(isDone ? [underWay] : [])].filter((change) => change.provider === provider)
    await assertEvents(ada, provider, happened)
  }
}

async function assertCatalogue(ada: Caller, { catalogue }: Truth): Promise<void> {
  if (catalogue === undefined) return
  const { body } = await ada.call('GET', '/api/catalogue')
  const found = body.installed[0]?.version
  const allowed = 'underWay' in catalogue ? [catalogue.version, catalogue.underWay] : [catalogue.version]
  assert.ok(allowed.includes(found), `the catalogue ${found} is in use, of ${allowed.join(', ')}`)
  const { warnings = [] } = (await ada.call('GET', '/api/ready')).body
  assert.deepEqual(
    warnings.filter((text: string) => text.includes('catalogue')),
    [],
  )
  const { status } = await ada.call('GET', `/api/providers/crash-${found}`)
  assert.equal(status, found === undefined ? 404 : 200, 'its definitions are there, whole')
}

async function credentialOf(ada: Caller, provider: string): Promise<Change['credential']> {
  const { status, body, text } = await ada.call('GET', `/api/connections/${provider}/default?reveal=true`)
  if (status === 404) return undefined
  assert.equal(status, 200, text)
  return body.credential
}

async function assertResolves(ada: Caller, { api_key }: NonNullable<Change['credential']>): Promise<void> {
  const { body, text } = await ada.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })
  assert.equal(body.headers?.Authorization, `Bearer ${api_key}`, text)
}

function isSame(one: Change['credential'], other: Change['credential']): boolean {
  const shape = (of: Change['credential']) => JSON.stringify(Object.entries(of ?? {}).toSorted())
  return shape(one) === shape(other)
}

async function assertEvents(ada: Caller, provider: string, happened: readonly Change[]): Promise<void> {
  const { body } = await ada.call('GET', `/api/audit/events?limit=500&provider=${provider}`)
  const found = body.events.map(({ event }: { event: string }) => event).filter(isOfModel)
  assert.deepEqual(found, happened.map(({ event }) => event).toReversed(), `each change of ${provider} has its event`)
}

function isOfModel(event: string): boolean {
  return event === 'provider.login' || event === 'provider.logout'
}

/** No draft stays, and no secret is anywhere to be read. */
function assertNothingLeft(home: string, { acknowledged, underWay }: Truth): void {
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const drafts = files
    .map(({ name }) => name)
    .filter((name) => /\.tmp$|\.draft|-journal$|\.next$|\.restored/.test(name))
  assert.deepEqual(drafts, [], 'no draft is left')
  const secrets = [...acknowledged, ...(underWay ? [underWay] : [])].flatMap(({ credential = {} }) =>
    Object.values(credential),
  )
  assert.deepEqual(searchForSecrets(filesBelow(home), secrets), [])
}
