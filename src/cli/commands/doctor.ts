import { readBootstrapSecret } from '../../config/index.ts'
import { attentionLine } from '../../protocol/index.ts'
import type { Readiness } from '../../schemas/index.ts'
import type { Invocation } from '../invocation.ts'
import { asAgent } from '../session.ts'
import { catalogueLine } from './provider-update.ts'

interface Check {
  readonly status: 'ok' | 'failed'
  readonly message?: string
}

export interface DoctorOptions {
  readonly acceptRestore?: boolean
  /** To try what the isolation of runs holds: of this level, or of the one in use. */
  readonly isolation?: true | 'shield' | 'sandbox'
}

/** Exit code 0 when every check passes. */
export async function doctor(invocation: Invocation, { acceptRestore, isolation }: DoctorOptions): Promise<number> {
  if (isolation) {
    const { doctorIsolation } = await import('./doctor-isolation.ts')
    return await doctorIsolation(invocation, isolation === true ? undefined : isolation)
  }
  const { output } = invocation
  if (acceptRestore) await takeAsItIs(invocation)
  const [readiness, { attention }, catalogue] = await asAgent(invocation, (client) =>
    // Where connections cannot be had, another check says why.
    Promise.all([
      client.ready(),
      client.connectionList().catch(() => ({ attention: [] })),
      client.catalogue().catch(() => undefined),
    ]),
  )
  const lines = attention.map(attentionLine)
  const checks = { ...checksOf(readiness), attention: attentionCheck(lines) }
  // What the check says is not said twice.
  const warnings = (readiness.warnings ?? []).filter((warning) => !lines.includes(warning))
  const status = readiness.status === 'ready' && lines.length === 0 ? 'ok' : 'failed'
  output.result({ status, checks, warnings }, () => {
    output.table(
      ['CHECK', 'STATUS', 'MESSAGE'],
      Object.entries(checks).map(([name, { status, message }]) => [
        name,
        status,
        (name === 'attention' && lines.length > 1 ? `${lines.length} things, below` : message) ?? '',
      ]),
    )
    if (lines.length > 1) for (const line of lines) output.notice(line)
    for (const warning of warnings) output.warn(warning)
    for (const issue of unexplained(readiness, checks)) output.notice(issue)
    if (catalogue) output.note(`Providers: ${catalogueLine(catalogue)}`)
    if (status === 'ok') output.done('Everything works')
  })
  return status === 'ok' ? 0 : 1
}

async function takeAsItIs(invocation: Invocation): Promise<void> {
  const { output, config } = invocation
  const bootstrap = config.baseUrlIsOwn ? readBootstrapSecret(config.paths) : undefined
  const { lost, rights = [] } = await asAgent(invocation, (client) => client.restoreVault(bootstrap))
  output.done('The vault is taken as it is')
  for (const { provider, connection } of lost) {
    output.warn(`Connection "${connection}" of ${provider} is lost: log in again.`)
  }
  for (const done of rights) output.warn(done)
}

/** Connections that will not serve. */
function attentionCheck(lines: readonly string[]): Check {
  return lines.length === 0 ? { status: 'ok' } : { status: 'failed', message: lines.join(' ') }
}

/** An issue that names a failed check explains it. */
function checksOf({ checks, issues = [] }: Readiness): Readonly<Record<string, Check>> {
  const entries = Object.entries(checks).map(([name, status = 'failed']): [string, Check] => {
    const causes = issues
      .filter((issue) => issue.startsWith(`${name}:`))
      .map((issue) => issue.slice(name.length + 1).trim())
    return [name, status === 'ok' || causes.length === 0 ? { status } : { status, message: causes.join(' ') }]
  })
  return Object.fromEntries(entries)
}

function unexplained({ issues = [] }: Readiness, checks: Readonly<Record<string, Check>>): readonly string[] {
  return issues.filter((issue) => !Object.keys(checks).some((name) => issue.startsWith(`${name}:`)))
}
