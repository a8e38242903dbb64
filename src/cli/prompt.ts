import { emitKeypressEvents, type Key } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { BrokerError } from '../protocol/index.ts'
import { interrupt, interruption } from './interruption.ts'
import { type Edited, LineEditor, width } from './line-editor.ts'
import { printable } from './printable.ts'

/** The keyboard. */
export type Keys = Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown }
/** What shows what is typed. */
export type Screen = Writable & { readonly isTTY?: boolean; readonly columns?: number }

export interface PromptOptions {
  readonly keys: Keys
  readonly screen: Screen
  /** It knows no control sequences. */
  readonly isDumb: boolean
}

export interface PromptText {
  /** Said before anything can be typed that would show. */
  readonly text: string
  /** In front of the answer; asked for again each second. */
  readonly lead: () => string
  /** Whether an answer so far is hidden. */
  readonly isMasked: (answer: string) => boolean
  /** Why an answer will not do, for whoever typed it. */
  readonly problem: (answer: string) => string | undefined
  readonly signal: AbortSignal
}

/**
 * Has one line typed, on one row of the screen however long it is: a row that wraps could not be drawn again.
 * @returns undefined where `signal` fired
 * @throws BrokerError InputCancelledError where the person, the terminal or the system ends it
 */
export function askLine(options: PromptOptions, question: PromptText): Promise<string | undefined> {
  return new Prompt(options, question).answer()
}

const REDRAW = 1_000
const PASTES_ARE_MARKED = { on: '\u001b[?2004h', off: '\u001b[?2004l' }

class Prompt {
  readonly #options: PromptOptions
  readonly #question: PromptText
  readonly #line = new LineEditor()
  readonly #settled = Promise.withResolvers<string | undefined>()
  readonly #reactions: Readonly<Record<Edited, () => void>> = {
    changed: () => this.#drawSoon(),
    entered: () => this.#enter(),
    cancelled: () => this.#settled.reject(cancelled()),
    ended: () => this.#endOfInput(),
    suspended: () => this.#suspend(),
    ignored: () => undefined,
  }
  #drawn = 0
  #drawing: NodeJS.Immediate | undefined
  /** After a Ctrl-Z, and before the system says so. */
  #hasGoneOn = false
  #isOver = false

  constructor(options: PromptOptions, question: PromptText) {
    this.#options = options
    this.#question = question
  }

  async answer(): Promise<string | undefined> {
    const { keys, screen } = this.#options
    const { signal } = this.#question
    if (signal.aborted) return undefined
    const interrupted = interruption()
    const listeners = [
      on(keys, 'keypress', (text: string | undefined, key: Key) => this.#press(text, key)),
      on(keys, 'end', () => this.#endOfInput()),
      on(keys, 'close', () => this.#endOfInput()),
      on(keys, 'error', () => this.#endOfInput()),
      on(screen, 'resize', () => this.#draw()),
      on(process, 'SIGCONT', () => this.#goOn()),
      onAbort(interrupted.signal, () => this.#settled.reject(cancelled())),
      onAbort(signal, () => this.#settled.resolve(undefined)),
    ]
    const redrawing = setInterval(() => this.#draw(), REDRAW)
    emitKeypressEvents(keys)
    this.#begin()
    keys.resume()
    if (keys.readableEnded || keys.destroyed) this.#endOfInput()
    try {
      const answer = await this.#settled.promise
      if (answer === undefined) this.#erase()
      return answer
    } finally {
      this.#isOver = true
      clearInterval(redrawing)
      for (const off of listeners) off()
      interrupted.stop()
      keys.pause()
      this.#end()
      if (!signal.aborted) screen.write('\n')
    }
  }

  #press(text: string | undefined, key: Key): void {
    this.#reactions[this.#line.press(text, key)]()
  }

  /** With nobody there any more, nothing else is waited for either. */
  #endOfInput(): void {
    this.#settled.reject(inputEnded())
    if (!this.#isOver) interrupt()
  }

  /** Once for all that came together. */
  #drawSoon(): void {
    this.#drawing ??= setImmediate(() => this.#draw())
  }

  #enter(): void {
    this.#draw()
    const problem = this.#question.problem(this.#line.text)
    if (problem === undefined) this.#settled.resolve(this.#line.text)
    else this.#askAgain(problem)
  }

  #askAgain(problem: string): void {
    this.#line.clear()
    this.#options.screen.write(`\n${problem}\n`)
    this.#drawn = 0
    this.#draw()
  }

  /** As the terminal itself would: all that was started with it stops, and the shell's own mode is back. */
  #suspend(): void {
    this.#options.screen.write('\n')
    this.#end()
    process.kill(0, 'SIGTSTP')
    // Where no shell could wake it up again, nothing has stopped.
    setImmediate(() => {
      this.#hasGoneOn = true
      if (!this.#isOver) this.#begin()
    })
  }

  #goOn(): void {
    if (!this.#hasGoneOn) this.#begin()
    this.#hasGoneOn = false
  }

  #begin(): void {
    this.#drawn = 0
    this.#setRaw(false)
    this.#setRaw(true)
    const { isDumb, screen } = this.#options
    screen.write(`${isDumb ? '' : PASTES_ARE_MARKED.on}? ${printable(this.#question.text)}\n`)
    this.#draw()
  }

  #end(): void {
    if (!this.#options.isDumb) this.#options.screen.write(PASTES_ARE_MARKED.off)
    this.#setRaw(false)
  }

  // A terminal that is gone has no mode.
  #setRaw(isRaw: boolean): void {
    try {
      this.#options.keys.setRawMode?.(isRaw)
    } catch {
      this.#endOfInput()
    }
  }

  /** By carriage return and spaces alone: every terminal knows these. */
  #draw(): void {
    clearImmediate(this.#drawing)
    this.#drawing = undefined
    if (this.#isOver) return
    const { screen } = this.#options
    const { isMasked, lead: leadOf } = this.#question
    const cells = Math.max(8, (screen.columns || 80) - 1)
    const lead = fitting(printable(leadOf()), Math.max(2, cells - 8))
    const { shown, beforeCursor } = this.#line.window(cells - width(lead), isMasked(this.#line.text) ? '*' : undefined)
    const row = lead + shown
    const rest = ' '.repeat(Math.max(0, Math.min(this.#drawn, cells) - width(row)))
    screen.write(`\r${row}${rest}\r${lead}${beforeCursor}`)
    this.#drawn = width(row)
  }

  #erase(): void {
    this.#options.screen.write(`\r${' '.repeat(this.#drawn)}\r`)
  }
}

/** Returns what fits into a row of so many cells. */
export function fitting(text: string, cells: number): string {
  const characters = [...text]
  if (width(characters) <= cells) return text
  let kept = ''
  for (const character of characters) {
    if (width(kept) + width([character]) > cells - 1) break
    kept += character
  }
  return `${kept}…`
}

interface Emitter<Listener> {
  on(event: string, listener: Listener): unknown
  off(event: string, listener: Listener): unknown
}

function on<Listener>(emitter: Emitter<Listener>, event: string, listener: Listener): () => void {
  emitter.on(event, listener)
  return () => void emitter.off(event, listener)
}

function onAbort(signal: AbortSignal, listener: () => void): () => void {
  signal.addEventListener('abort', listener, { once: true })
  return () => signal.removeEventListener('abort', listener)
}

export function cancelled(): BrokerError {
  return new BrokerError('InputCancelledError', 'Cancelled; nothing was changed')
}

function inputEnded(): BrokerError {
  return new BrokerError('InputCancelledError', 'The input ended before it was answered; nothing was changed')
}

/** @throws BrokerError InputCancelledError where `signal` fires first: nobody waits for what goes on then. */
export async function unlessInterrupted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const off = onAbort(signal, () => reject(cancelled()))
  if (signal.aborted) reject(cancelled())
  try {
    return await Promise.race([work, promise])
  } finally {
    off()
  }
}
