import type { Readable } from 'node:stream'
import { Secret } from '../protocol/index.ts'
import { width } from './line-editor.ts'
import { printable } from './printable.ts'
import { askLine, fitting, type Keys, type Screen } from './prompt.ts'

/** The person at the keyboard, where there is one. All of it happens on standard error: standard output is for data. */
export interface Terminal {
  /** Whether questions can be asked. */
  readonly canAsk: boolean
  readonly input: Readable & { readonly isTTY?: boolean }
  /** @throws BrokerError InputCancelledError */
  confirm(question: string): Promise<boolean>
  /** Masked where it is a secret. Undefined where `signal` fired or a value that is not required was left out. @throws BrokerError InputCancelledError */
  ask(question: string, options: AskOptions): Promise<Secret | undefined>
  /** Shows that something is going on; nothing where nobody watches. */
  spin(text: string): Spinner
}

interface AskOptions {
  readonly isSecret: boolean
  readonly isRequired: boolean
  /** Around a password they are part of it; around a key they came along. */
  readonly keepsSpaces?: true
  /** What stands before the answer, now. */
  readonly lead?: () => string
  readonly signal: AbortSignal
}

interface Spinner {
  update(text: string): void
  stop(): void
}

export interface TerminalOptions {
  readonly stdin: Keys
  readonly stderr: Screen
  /** No spinners: `--json` or `--quiet`. */
  readonly silent: boolean
  /** `TERM=dumb`: it knows no control sequences. */
  readonly isDumb: boolean
}

export function openTerminal({ stdin, stderr, silent, isDumb }: TerminalOptions): Terminal {
  const place = { keys: stdin, screen: stderr, isDumb }
  return {
    canAsk: stdin.isTTY === true && stderr.isTTY === true,
    input: stdin,
    async confirm(question) {
      const { signal } = new AbortController()
      const lead = () => '(y/N) > '
      return isYes(
        await askLine(place, { text: question, lead, isMasked: isNoAnswer, problem: neitherYesNorNo, signal }),
      )
    },
    async ask(question, { isSecret, isRequired, keepsSpaces, lead = () => '> ', signal }) {
      if (signal.aborted) return undefined
      const problem = isRequired ? missing : () => undefined
      const answer = await askLine(place, { text: question, lead, isMasked: () => isSecret, problem, signal })
      return answer?.trim() ? new Secret(keepsSpaces ? answer : answer.trim()) : undefined
    },
    spin: (text) => (stderr.isTTY === true && !silent ? spin(place, text) : SILENT),
  }
}

/** A key, typed ahead or pasted where none was asked for. */
function isNoAnswer(answer: string): boolean {
  return answer.trim().length > 'yes'.length
}

function isYes(answer = ''): boolean {
  return /^\s*y(?:es)?\s*$/i.test(answer)
}

function neitherYesNorNo(answer: string): string | undefined {
  return /^\s*(?:y|yes|n|no)?\s*$/i.test(answer) ? undefined : 'Answer y or n, or press Ctrl-C to cancel.'
}

function missing(value: string): string | undefined {
  return value.trim() ? undefined : 'Enter a value, or press Ctrl-C to cancel.'
}

const SILENT: Spinner = { update: () => undefined, stop: () => undefined }
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** A row of its own. Where it cannot be drawn again, it is said once. */
function spin({ screen, isDumb }: { readonly screen: Screen; readonly isDumb: boolean }, first: string): Spinner {
  if (isDumb) {
    screen.write(`${printable(first)}\n`)
    return SILENT
  }
  let text = first
  let frame = 0
  let drawn = 0
  const erase = () => screen.write(`\r${' '.repeat(drawn)}\r`)
  const draw = () => {
    frame = (frame + 1) % FRAMES.length
    const row = fitting(`${FRAMES[frame]} ${printable(text)}`, (screen.columns || 80) - 1)
    erase()
    screen.write(row)
    drawn = width(row)
  }
  const timer = setInterval(draw, 80)
  draw()
  return {
    update(next) {
      text = next
    },
    stop() {
      clearInterval(timer)
      erase()
    },
  }
}
