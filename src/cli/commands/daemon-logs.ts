import { existsSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import { BrokerError } from '../../protocol/index.ts'
import type { Invocation } from '../invocation.ts'
import { lastLines, linesAfter } from '../log-lines.ts'

export async function daemonLogs(
  { config, output }: Invocation,
  { lines: count, follow }: { readonly lines: number; readonly follow?: boolean },
): Promise<void> {
  const path = config.paths.daemonLog
  if (follow && output.json)
    throw new BrokerError('InvalidRequestError', '--follow has no end, and so no JSON document')
  if (!existsSync(path)) {
    throw new BrokerError('NotFoundError', `There is no log of a daemon at "${path}"`, {
      hint: 'Start the daemon with `broker daemon start`.',
    })
  }
  const { lines, end } = lastLines(path, count)
  output.result(lines.map(parsed), () => {
    for (const line of lines) output.line(line)
  })
  if (follow) await followFrom(path, end, (line) => output.line(line))
}

/** Until the process is ended. */
function followFrom(path: string, start: number, print: (line: string) => void): Promise<never> {
  let position = start
  return new Promise((_, reject) => {
    // The folder, because rotation puts another file in the place of this one.
    const watcher = watch(dirname(path), () => {
      const { lines, end } = linesAfter(path, position)
      position = end
      for (const line of lines) print(line)
    })
    watcher.once('error', reject)
  })
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return { msg: line }
  }
}
