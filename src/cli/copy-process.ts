import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config/index.ts'
import { BrokerError, isErrorName, type Secret } from '../protocol/index.ts'

const ENTRY = fileURLToPath(new URL('../daemon/copy.ts', import.meta.url))

/** What is asked of the program that copies stores; a secret by its name is revealed to it alone, by a pipe. */
export interface CopyRequest {
  readonly do: 'backup' | 'restore' | 'move'
  readonly secrets: Readonly<Record<string, Secret>>
  readonly [name: string]: unknown
}

/**
 * Has the store of this home copied, by a process that may open it.
 * @param decide gets what would be taken back, before anything is; nothing is asked where absent
 * @throws BrokerError what the copy ended with
 */
export async function runCopy<Answer>(
  { environment }: Config,
  { secrets, ...request }: CopyRequest,
  decide: (change: unknown) => Promise<boolean> = async () => true,
): Promise<Answer> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ENTRY], {
    env: environment,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // It has ended: what it said, or did not say, is the answer.
  child.stdin.on('error', () => undefined)
  const ended = once(child, 'close')
  const revealed = Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]))
  child.stdin.write(`${JSON.stringify({ ...request, ...revealed })}\n`)
  let last: unknown
  for await (const line of createInterface({ input: child.stdout })) {
    last = JSON.parse(line)
    if (typeof last === 'object' && last !== null && 'change' in last) {
      const isWanted = await decide(last.change).catch((error: unknown) => {
        child.stdin.end('no\n')
        throw error
      })
      child.stdin.write(isWanted ? 'go\n' : 'no\n')
    }
  }
  await ended
  return answerOf<Answer>(last)
}

function answerOf<Answer>(said: unknown): Answer {
  if (typeof said !== 'object' || said === null) throw new Error('The copy said nothing')
  if (!('error' in said)) return said as Answer
  const { error, message, hint } = said as {
    readonly error: unknown
    readonly message?: string
    readonly hint?: string
  }
  throw new BrokerError(isErrorName(error) ? error : 'InternalError', String(message), { ...(hint && { hint }) })
}
