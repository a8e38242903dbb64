import { homedir } from 'node:os'
import { Secret } from '../protocol/index.ts'
import type { Terminal } from './terminal.ts'

interface Prompt {
  readonly terminal: Terminal
  readonly text: string
  readonly isRequired: boolean
  readonly signal: AbortSignal
  /** Hears why a file cannot be used. */
  readonly notice: (text: string) => void
}

/** Asks where a key file is, until there is one that can be read, and takes its text. Undefined as of {@link Terminal.ask}. */
export async function askForKeyFile(question: Prompt): Promise<Secret | undefined> {
  const { terminal, text, isRequired, signal, notice } = question
  // With it come parsers that most logins never need.
  const { readForeignFile } = await import('../import/index.ts')
  for (;;) {
    const path = await terminal.ask(`${text}: path of the file`, { isSecret: false, isRequired, signal })
    if (!path) return undefined
    let why = 'there is no such file'
    const content = readForeignFile(path.reveal().replace(/^~(?=\/)/, homedir()), (reason) => {
      why = reason
    })
    if (content !== undefined) return new Secret(content)
    notice(`It cannot be used: ${why}`)
  }
}
