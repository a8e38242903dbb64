/**
 * Puts many audit events of the last 30 days into a home whose daemon is stopped, through the daemon's own rooms: what is
 * stored, counted and chained is what as many requests would have stored.
 */
import { sql } from 'kysely'
import { loadConfig } from '../src/config/index.ts'
import { openAudit } from '../src/daemon/audit/index.ts'
import { openStore } from '../src/daemon/store/index.ts'
import type { ShippedEvent } from '../src/schemas/index.ts'

const DAYS_MS = 30 * 24 * 60 * 60 * 1000
const AT_ONCE = 1_000
const PROVIDERS = 25
const AGENTS = 20

const count = Number(process.argv[2])
const { paths } = loadConfig(process.env, '/nowhere')
const store = await openStore({ kind: 'sqlite', path: paths.database, replayPath: paths.replayLedger })
await sql`pragma synchronous = off`.execute(store.db)
const begin = Date.now() - DAYS_MS
let clock = begin
const audit = openAudit(store, { now: () => clock })
const { id: principalId } = await store.db.selectFrom('principals').select('id').executeTakeFirstOrThrow()

for (let at = 0; at < count; at += AT_ONCE) {
  clock = begin + Math.floor((at / count) * DAYS_MS)
  const batch = Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, index) => eventAt(at + index))
  await audit.append({ identity: `agent-${(at / AT_ONCE) % AGENTS}`, principalId }, batch, `batch-${at}`)
}
await store.close()

/** Most went well, some failed, few were denied; one provider was used a handful of times only, long ago. */
function eventAt(number: number): ShippedEvent {
  const isDenied = number % 97 === 0
  const isFailure = number % 29 === 0
  const provider = number < 20 ? 'seldom' : `provider-${(number * 7919) % PROVIDERS}`
  return {
    id: `event-${String(number).padStart(9, '0')}`,
    event: isDenied ? 'proxy.denied' : 'proxy.request',
    provider,
    connection: 'default',
    status: isDenied ? 'denied' : isFailure ? 'failure' : 'success',
    request: {
      method: 'POST',
      host: `api.${provider}.example`,
      port: 443,
      path: `/v1/things/${number}`,
      status: isFailure ? 500 : 200,
      duration_ms: 120,
      bytes_in: 900,
      bytes_out: 300,
    },
  }
}
