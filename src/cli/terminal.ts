import type { Readable, Writable } from 'node:stream'
import { BrokerError, Secret } from '../protocol/index.ts'
import { printable } from './printable.ts'

/** The person at the keyboard, where there is one. All of it happens on standard error: standard output is for data. */
export interface Terminal {
  /** Whether questions can be asked. */
  readonly canAsk: boolean
  readonly input: Readable
  /** @throws BrokerError InputCancelledError */
  confirm(question: string): Promise<boolean>
  /** Masked where it is a secret. Undefined where `signal` fired or a value that is not required was left out. @throws BrokerError InputCancelledError */
  ask(question: string, options: AskOptions): Promise<Secret | undefined>
  /** Shows that something is going on; nothing where nobody watches. */
  spin(text: string): Spinner
}

export interface AskOptions {
  readonly isSecret: boolean
  readonly isRequired: boolean
  /** Around a password they are part of it; around a key they came along. */
  readonly keepsSpaces?: true
  readonly signal: AbortSignal
}

export interface Spinner {
  update(text: string): void
  stop(): void
}

export interface TerminalOptions {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stderr: Writable & { readonly isTTY?: boolean }
  /** No spinners: `--json` or `--quiet`. */
  readonly silent: boolean
}

export function openTerminal({ stdin, stderr, silent }: TerminalOptions): Terminal {
  const streams = { input: stdin, output: stderr }
  return {
    canAsk: stdin.isTTY === true && stderr.isTTY === true,
    input: stdin,
    async confirm(question) {
      const { confirm, isCancel } = await import('@clack/prompts')
      const answer = await confirm({ message: printable(question), initialValue: false, ...streams })
      if (isCancel(answer)) throw cancelled()
      return answer
    },
    async ask(question, { isSecret, isRequired, keepsSpaces, signal }) {
      const { password, text, isCancel } = await import('@clack/prompts')
      const options = { message: printable(question), ...(isRequired && { validate: required }), ...streams, signal }
      const answer = isSecret ? await password(options) : await text(options)
      if (signal.aborted) return undefined
      if (isCancel(answer)) throw cancelled()
      return answer?.trim() ? new Secret(keepsSpaces ? answer : answer.trim()) : undefined
    },
    spin: (text) => (stderr.isTTY === true && !silent ? spin(stderr, text) : SILENT),
  }
}

export function cancelled(): BrokerError {
  return new BrokerError('InputCancelledError', 'Cancelled; nothing was changed')
}

function required(value: string | undefined): string | undefined {
  return value?.trim() ? undefined : 'Enter a value, or press Ctrl-C to cancel.'
}

const SILENT: Spinner = { update: () => undefined, stop: () => undefined }
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const ERASE_LINE = '\r\u001b[2K'

// A line of its own and not the prompt library's: that one takes Ctrl-C for itself and draws to standard output.
function spin(stream: Writable, first: string): Spinner {
  let text = first
  let frame = 0
  const draw = () => {
    frame = (frame + 1) % FRAMES.length
    stream.write(`${ERASE_LINE}${FRAMES[frame]} ${printable(text)}`)
  }
  const timer = setInterval(draw, 80)
  draw()
  return {
    update(next) {
      text = next
    },
    stop() {
      clearInterval(timer)
      stream.write(ERASE_LINE)
    },
  }
}
