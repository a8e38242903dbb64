import { titleOf } from './clients.ts'
import { type Outcome, worked } from './run-client.ts'

/** A client that could not be run here, and why. */
export interface LeftOut {
  readonly title: string
  readonly reason: string
}

const INTRODUCTION = `# Which clients work behind \`broker run\`?

Each row is a program that ran as the child of \`broker run\` in an empty home, with no setting of its own for a proxy or a certificate. It
asked a local TLS service under the real service's name, which answers 401 without the real key. *Streamed*: it showed the first piece
of an answer before the service sent the last. *Key seen*: whether the real key stood in its environment, its output or its files.

\`npm run test:clients\` writes this page; \`--only <pattern>\` runs some rows and writes nothing.
`

/** What no machine of ours can run, and why. */
const NEVER_RUN: readonly LeftOut[] = [
  { title: 'Browsers, Playwright, Puppeteer', reason: 'they want a proxy of their own' },
  { title: 'docker', reason: '`dockerd` makes the requests, which is no child of the run' },
  { title: 'gcloud, az', reason: 'neither Debian nor npm has them' },
  { title: 'Gradle', reason: "Debian's is too old for its Java" },
  { title: 'Rust (reqwest, ureq), .NET, Swift', reason: 'their packages come from registries of their own' },
]

/** The page of all rows. */
export function clientsPage(outcomes: readonly Outcome[], leftOut: readonly LeftOut[]): string {
  const missing = [...NEVER_RUN, ...leftOut].map(({ title, reason }) => `- ${title}: ${reason}`)
  return [
    INTRODUCTION,
    clientsTable(outcomes),
    '## Left out',
    '',
    ...missing,
    '',
    `${countsOf(outcomes, leftOut)}\n`,
  ].join('\n')
}

export function clientsTable(outcomes: readonly Outcome[]): string {
  const rows = outcomes
    .toSorted((a, b) => compare(a.client.runtime, b.client.runtime) || compare(a.client.name, b.client.name))
    .map(rowOf)
  return ['| client | version | HTTP | streamed | key seen | note |', '|---|---|---|---|---|---|', ...rows, ''].join(
    '\n',
  )
}

export function countsOf(outcomes: readonly Outcome[], leftOut: readonly LeftOut[]): string {
  const good = outcomes.filter(worked).length
  const known = outcomes.filter((outcome) => !worked(outcome) && outcome.client.fails !== undefined).length
  return `${outcomes.length} rows: ${good} work, ${known} are known not to, ${outcomes.length - good - known} fail. ${leftOut.length} left out.`
}

function rowOf(outcome: Outcome): string {
  const { client, version, problem, streamed, keySeen } = outcome
  const marks = [problem === undefined ? '✓' : '✗', streamed === undefined ? '–' : streamed ? '✓' : '✗']
  const notes = [worked(outcome) ? undefined : (client.fails ?? problem), client.note].filter(
    (one) => one !== undefined,
  )
  const cells = [titleOf(client), version, ...marks, keySeen.length === 0 ? 'no' : 'YES', notes.join('; ')]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function compare(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}
