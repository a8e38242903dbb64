import { BrokerError, type Secret } from '../protocol/index.ts'
import type { Terminal } from './terminal.ts'

/** Has a new secret typed twice, masked. @throws BrokerError InvalidRequestError where the two differ */
export async function askTwice(terminal: Terminal, question: string): Promise<Secret> {
  const first = await askSecret(terminal, question)
  const again = await askSecret(terminal, 'The same again')
  if (again.equals(first)) return first
  throw new BrokerError('InvalidRequestError', 'The two are not the same; nothing was changed')
}

/** Has a secret typed, masked. @throws BrokerError InputCancelledError */
export async function askSecret(terminal: Terminal, question: string): Promise<Secret> {
  const { signal } = new AbortController()
  const answer = await terminal.ask(question, { isSecret: true, isRequired: true, keepsSpaces: true, signal })
  return answer ?? askSecret(terminal, question)
}
