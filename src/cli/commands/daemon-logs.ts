import { existsSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import { BrokerError } from '../../protocol/index.ts'
import { day } from '../day.ts'
import type { Invocation } from '../invocation.ts'
import { lastLines, linesAfter } from '../log-lines.ts'
import type { LogEntry } from '../output.ts'

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
  const print = (line: string) => (output.isTerminal ? output.logLine(entryOf(line)) : output.line(line))
  output.result(lines.map(parsed), () => {
    for (const line of lines) print(line)
  })
  if (follow) await followFrom(path, end, print)
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

/** A line that is cut off is a message of its own. */
function parsed(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? { ...value } : { msg: line }
  } catch {
    return { msg: line }
  }
}

const LEVELS: Readonly<Record<number, LogEntry['level']>> = {
  10: 'debug',
  20: 'debug',
  40: 'warn',
  50: 'error',
  60: 'error',
}

function entryOf(line: string): LogEntry {
  const { time, level, msg = '', ...fields } = parsed(line)
  return {
    time: typeof time === 'string' && !Number.isNaN(Date.parse(time)) ? day(time) : '',
    level: LEVELS[Number(level)] ?? 'info',
    message: String(msg),
    fields: Object.entries(fields).map(
      ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    ),
  }
}
