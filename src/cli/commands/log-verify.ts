import type { LogExamination, LogFinding } from '../../schemas/index.ts'
import { day } from '../day.ts'
import type { Invocation } from '../invocation.ts'
import { asAgent } from '../session.ts'

/** Exit code 0 where nothing was changed. */
export async function verifyLog(invocation: Invocation, since: string | undefined): Promise<number> {
  const { output, terminal } = invocation
  const spinner = terminal.spin('Looking through the audit log')
  const tell = (checked: number, of: number) => {
    spinner.update(
      `Looking through the audit log: ${checked.toLocaleString('en')} of ${of.toLocaleString('en')} events`,
    )
  }
  const found = await asAgent(invocation, (client) => client.verifyAudit(since, tell)).finally(() => spinner.stop())
  output.result(found, () => {
    if (found.status === 'failed') {
      output.table(
        ['EVENT', 'WHAT'],
        found.findings.map(({ seq, kind }) => [String(seq), SENTENCES[kind]]),
      )
    }
    for (const line of linesOf(found)) output.note(line)
    if (found.status === 'ok') output.done('Nothing was changed outside of Broker')
  })
  return found.status === 'ok' ? 0 : 1
}

const SENTENCES: Readonly<Record<LogFinding['kind'], string>> = {
  edited: 'is not as it was written',
  deleted: 'was taken out',
  inserted: 'was put in',
  reordered: 'stands in the place of another',
  truncated: 'and all behind it were cut off',
  index: 'is not found by filters: the counts of its hour were changed',
}

function linesOf({ events, first, last, checkpoint }: LogExamination): readonly string[] {
  const range = first === undefined ? '' : `, from ${first} to ${last}`
  const signed = checkpoint ? `signed at ${day(checkpoint.made_at)}` : 'not signed yet'
  return [`${events} events${range}; ${signed}`]
}
