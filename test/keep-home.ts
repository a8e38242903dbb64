/**
 * `npm run keep-home [commit…]`: writes a home as the daemon of a commit leaves it to `test/homes`, with connections by key
 * and by OAuth. HEAD if no commit is given.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { type Caller, type Cleanup, type DaemonUnderTest, owner, send, startDaemon } from './daemon-under-test.ts'
import type { OldConnection, OldHome } from './old-homes.ts'
import { startScriptedServer } from './scripted-oauth-server.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const HOMES = new URL('./homes/', import.meta.url)
/** By provider, how its keys begin. */
const KEYS = {
  openai: 'sk-',
  anthropic: 'sk-ant-',
  github: 'ghp_',
  gitlab: 'glpat-',
  bitbucket: '',
  godaddy: '',
  planetscale: 'pscale_tkn_',
}
const OAUTH_HOST = 'api.kept.example'
const CENTURY_SECONDS = 99 * 365 * 86_400
/** Of the home, beside its databases. */
const FILES = [
  'server/config.json',
  'server/daemon.key',
  'server/bootstrap.secret',
  'server/master.key',
  'server/vault-anchor.json',
]

async function homeOf(cleanup: Cleanup, commit: string): Promise<OldHome> {
  const checkout = join(mkdtempSync(join(tmpdir(), 'broker-commit-')), 'checkout')
  git('worktree', 'add', '--detach', checkout, commit)
  cleanup.after(() => git('worktree', 'remove', '--force', checkout))
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'))
  const daemon = await startDaemon(cleanup, { checkout })
  const ada = await owner(daemon)
  const connections = [...(await keyConnections(ada)), ...(await oauthConnection(cleanup, daemon, ada))]
  await daemon.stop()
  const files = filesOf(daemon.home, ada.key.toPem().reveal())
  return { commit, connections, files, statements: statementsOf(join(daemon.home, 'server', 'broker.db')) }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8' }).trim()
}

/** With every provider of the list that the commit has. */
async function keyConnections(ada: Caller): Promise<readonly OldConnection[]> {
  const made: OldConnection[] = []
  for (const [provider, prefix] of Object.entries(KEYS)) {
    const session = await ada.call('POST', '/api/auth/sessions', { provider, flow: 'api_key' })
    if (session.status === 404) continue
    const names: readonly string[] = session.body.next_action.fields.map(({ name }: { name: string }) => name)
    const credential = Object.fromEntries(names.map((name) => [name, (name === 'api_key' ? prefix : '') + secret()]))
    const done = await ada.call('POST', `/api/auth/sessions/${session.body.id}/resume`, { input: credential })
    if (done.body.status !== 'completed') throw new Error(`${provider}: ${done.text}`)
    made.push({ provider, credential })
  }
  return made
}

function secret(): string {
  return `CNRY${randomBytes(12).toString('hex')}`
}

/** With tokens that outlive everybody: nobody listens any more where they could be refreshed. */
async function oauthConnection(
  cleanup: Cleanup,
  daemon: DaemonUnderTest,
  ada: Caller,
): Promise<readonly OldConnection[]> {
  const granted = { access_token: secret(), refresh_token: secret() }
  const server = await startScriptedServer(() => ({
    body: { ...granted, token_type: 'bearer', expires_in: CENTURY_SECONDS },
  }))
  cleanup.after(() => server.close())
  const definition = oauthDefinition(server.origin)
  const registered = await ada.call('POST', '/api/providers', { definition })
  if (registered.status !== 201) return []
  const session = await ada.call('POST', '/api/auth/sessions', { provider: definition.name })
  const url = session.body.next_action?.url
  if (session.status !== 201 || session.body.next_action.type !== 'open_url') return []
  const query = new URLSearchParams({ code: secret(), state: new URL(url).searchParams.get('state') ?? '' })
  const back = await send(daemon, 'GET', `/auth/callback/oauth?${query}`)
  if (back.status !== 200) throw new Error(back.text)
  return [{ provider: definition.name, credential: granted }]
}

function oauthDefinition(origin: string) {
  return {
    schema_version: 1,
    name: 'kept',
    display_name: 'Kept',
    auth_type: 'oauth2',
    flow: 'pkce',
    hosts: [OAUTH_HOST],
    oauth: {
      authorization_url: `${origin}/authorize`,
      token_url: `${origin}/token`,
      scopes: ['read'],
      client_id: 'broker',
      token_auth_method: 'none',
    },
  }
}

/** Definitions of tables, then rows, then indexes and triggers. */
function statementsOf(path: string): readonly string[] {
  const database = new DatabaseSync(path, { readOnly: true })
  const made = (types: readonly string[]) =>
    database
      .prepare('select type, sql from sqlite_master where sql is not null order by rowid')
      .all()
      .filter(({ type }) => types.includes(String(type)))
      .map(({ sql }) => String(sql).replace(/\s+/g, ' '))
  const tables = database
    .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by rowid")
    .all()
  const rows = tables.flatMap(({ name }) =>
    database
      .prepare(`select * from "${name}"`)
      .all()
      .map((row) => `insert into "${name}" values (${Object.values(row).map(literal).join(', ')})`),
  )
  const statements = [...made(['table']), ...rows, ...made(['index', 'trigger'])]
  database.close()
  return statements
}

function literal(value: unknown): string {
  if (value === null) return 'NULL'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return `X'${Buffer.from(value).toString('hex').toUpperCase()}'`
  return `'${String(value).replaceAll("'", "''")}'`
}

function filesOf(home: string, key: string): Readonly<Record<string, string>> {
  const definitions = existsSync(join(home, 'providers'))
    ? readdirSync(join(home, 'providers')).map((name) => join('providers', name))
    : []
  const texts = [...FILES, ...definitions].map((path) => [path, readFileSync(join(home, path), 'utf8')])
  return { 'identities/ada.key': key, ...Object.fromEntries(texts) }
}

/** In the order of the commits: a home of the same commit is replaced. */
function keep(home: OldHome): string {
  const names = readdirSync(HOMES).toSorted()
  const known = names.find((name) => name.includes(home.commit))
  const number = String(names.length + 1).padStart(2, '0')
  const name = known ?? `${number}-${home.commit}.json`
  writeFileSync(new URL(name, HOMES), `${JSON.stringify(home, null, 2)}\n`)
  return name
}

const wanted = process.argv.slice(2)
for (const commit of wanted.length > 0 ? wanted : ['HEAD']) {
  const tasks: (() => unknown)[] = []
  try {
    const name = keep(await homeOf({ after: (task) => tasks.push(task) }, git('rev-parse', '--short=7', commit)))
    process.stdout.write(`test/homes/${name}\n`)
  } finally {
    for (const task of tasks) await task()
  }
}
