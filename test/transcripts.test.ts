import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'

/**
 * What the command line says, word for word. A transcript in `transcripts/` is a session at a shell, in a home of its own:
 *
 *     # a comment
 *     $ broker whoami
 *     > standard output
 *     ! standard error
 *     ? 2                    (the exit code, where it is not 0)
 *
 * What changes from run to run stands in angle brackets. `UPDATE_TRANSCRIPTS=1` writes what was said; read the diff then.
 */
const FOLDER = fileURLToPath(new URL('./transcripts/', import.meta.url))
const BIN = fileURLToPath(new URL('../bin/', import.meta.url))
const UPDATE = process.env['UPDATE_TRANSCRIPTS'] === '1'

const names = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'))

describe('a transcript holds word for word', { concurrency: 3 }, () => {
  for (const name of names) test(name.replace(/\.txt$/, '').replaceAll('-', ' '), (t) => holds(t, name))
})

async function holds(t: TestContext, name: string): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'broker-test-'))
  const session = { root, port: await freePort() }
  mkdirSync(join(root, 'work'))
  mkdirSync(join(root, 'tmp'))
  t.after(async () => {
    await execute(session, 'broker daemon stop')
    rmSync(root, { recursive: true, force: true })
  })
  const expected = readFileSync(join(FOLDER, name), 'utf8')

  const said = await replay(expected, session)

  if (UPDATE) writeFileSync(join(FOLDER, name), said)
  else assert.equal(said, expected)
}

interface Session {
  readonly root: string
  readonly port: number
}

/** The transcript with what the commands say now. */
async function replay(transcript: string, session: Session): Promise<string> {
  const lines: string[] = []
  for (const line of transcript.split('\n')) {
    if (/^[>!?]/.test(line)) continue
    lines.push(line)
    if (line.startsWith('$ ')) lines.push(...(await execute(session, line.slice(2))))
  }
  return lines.join('\n')
}

async function execute(session: Session, command: string): Promise<readonly string[]> {
  const { root, port } = session
  const child = spawn('sh', ['-c', command], {
    cwd: join(root, 'work'),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: `${BIN}:${process.env['PATH']}`,
      HOME: root,
      TMPDIR: join(root, 'tmp'),
      TZ: 'UTC',
      BROKER_HOME: join(root, 'home'),
      BROKER_PORT: String(port),
      BROKER_ENCRYPTION_MODE: 'local_key',
    },
  })
  const [stdout, stderr, [code]] = await Promise.all([
    child.stdout.setEncoding('utf8').toArray(),
    child.stderr.setEncoding('utf8').toArray(),
    once(child, 'close'),
  ])
  return [
    ...marked('>', stdout.join(''), session),
    ...marked('!', stderr.join(''), session),
    ...(code === 0 ? [] : [`? ${code}`]),
  ]
}

function marked(mark: string, text: string, session: Session): readonly string[] {
  if (text === '') return []
  return steady(text, session)
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `${mark} ${line}`.trimEnd())
}

/** Returns what differs between two runs, in the same width where it stands in a table. */
function steady(text: string, { root, port }: Session): string {
  return text
    .replaceAll(root, '<root>')
    .replaceAll(String(port), '<port>')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '<time------------->')
    .replace(/did:key:z\w+/g, '<did>')
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
    .replace(/("(?:id|run_id)": )"[^"]+"/g, '$1"<id>"')
    .replace(/("pid": )\d+/g, '$1<pid>')
    .replace(/(pid |Process +)\d+/g, '$1<pid>')
    .replace(/(sessions\/)[\w-]{20,}/g, '$1<id>')
    .replace(/\b\d+ bundled/g, '<n> bundled')
    .replace(/\bcatalogue \d{4}-\d\d-\d\d\.\d+/g, 'catalogue <version>')
}
