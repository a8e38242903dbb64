import type { Key } from 'node:readline'

/** What a key made of the line. */
export type Edited = 'changed' | 'entered' | 'cancelled' | 'ended' | 'suspended' | 'ignored'

/** One line that is being typed. Knows keys and text, and nothing of a terminal. */
export class LineEditor {
  readonly #before: string[] = []
  /** The nearest last. */
  readonly #after: string[] = []
  #pasted: string | undefined

  get text(): string {
    return this.#before.join('') + this.#after.toReversed().join('')
  }

  /** @param text what the key writes, if anything */
  press(text: string | undefined, key: Key): Edited {
    if (key.name === 'paste-start') return this.#beginPaste()
    if (key.name === 'paste-end') return this.#endPaste()
    if (this.#pasted !== undefined) {
      this.#pasted += text ?? ''
      return 'ignored'
    }
    const command = COMMANDS[nameOf(key)]
    if (command) return this.#command(command)
    return key.ctrl || key.meta || text === undefined ? 'ignored' : this.#insert(text)
  }

  clear(): void {
    this.#before.length = 0
    this.#after.length = 0
  }

  /**
   * Returns what fits in so many cells around the cursor, and the part of that before it.
   * @param mask shown for each character
   */
  window(cells: number, mask?: string): { readonly shown: string; readonly beforeCursor: string } {
    const left = lastOf(this.#before, cells - 1, mask).reverse()
    const right = lastOf(this.#after, cells - 1 - width(left), mask)
    const beforeCursor = left.join('')
    return { shown: beforeCursor + right.join(''), beforeCursor }
  }

  #beginPaste(): Edited {
    this.#pasted = ''
    return 'ignored'
  }

  /** Line ends within it are no answer: the last ones came along, the others are white space. */
  #endPaste(): Edited {
    const pasted = this.#pasted ?? ''
    this.#pasted = undefined
    return this.#insert(pasted.replace(/[\r\n]+$/, '').replace(/[\r\n\t]+/g, ' '))
  }

  #insert(text: string): Edited {
    const characters = [...text].filter((character) => !/\p{Cc}/u.test(character))
    for (const character of characters) this.#before.push(character)
    return characters.length > 0 ? 'changed' : 'ignored'
  }

  #command(command: Command): Edited {
    switch (command) {
      case 'entered':
      case 'cancelled':
      case 'suspended':
        return command
      case 'end of input':
        if (this.text === '') return 'ended'
        this.#after.pop()
        break
      case 'left':
        move(this.#before, this.#after, 1)
        break
      case 'right':
        move(this.#after, this.#before, 1)
        break
      case 'home':
        move(this.#before, this.#after, this.#before.length)
        break
      case 'end':
        move(this.#after, this.#before, this.#after.length)
        break
      case 'erase':
        this.#before.pop()
        break
      case 'delete':
        this.#after.pop()
        break
      case 'erase to start':
        this.#before.length = 0
        break
      case 'erase to end':
        this.#after.length = 0
        break
      case 'erase word':
        this.#before.length = [...this.#before.join('').replace(/\S*\s*$/, '')].length
        break
      case 'draw':
        break
    }
    return 'changed'
  }
}

function move(from: string[], to: string[], count: number): void {
  to.push(...from.splice(from.length - Math.min(count, from.length)).reverse())
}

type Command = (typeof COMMANDS)[keyof typeof COMMANDS] & string

const COMMANDS = {
  return: 'entered',
  enter: 'entered',
  'ctrl-c': 'cancelled',
  'ctrl-d': 'end of input',
  'ctrl-z': 'suspended',
  left: 'left',
  'ctrl-b': 'left',
  right: 'right',
  'ctrl-f': 'right',
  home: 'home',
  'ctrl-a': 'home',
  end: 'end',
  'ctrl-e': 'end',
  backspace: 'erase',
  'ctrl-h': 'erase',
  delete: 'delete',
  'ctrl-u': 'erase to start',
  'ctrl-k': 'erase to end',
  'ctrl-w': 'erase word',
  'ctrl-l': 'draw',
} as const satisfies Readonly<Record<string, string>>

function nameOf({ ctrl, name = '' }: Key): keyof typeof COMMANDS {
  return `${ctrl ? 'ctrl-' : ''}${name}` as keyof typeof COMMANDS
}

/** As many as fit, the last first. */
function lastOf(characters: readonly string[], cells: number, mask: string | undefined): string[] {
  const shown: string[] = []
  let left = cells
  for (let at = characters.length - 1; at >= 0; at--) {
    const one = mask ?? characters[at] ?? ''
    left -= width([one])
    if (left < 0) break
    shown.push(one)
  }
  return shown
}

const NO_CELL = /[\p{Mn}\p{Me}\p{Cf}]/u
const TWO_CELLS =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

/** Cells of a terminal. */
export function width(characters: Iterable<string>): number {
  let cells = 0
  for (const character of characters) cells += NO_CELL.test(character) ? 0 : TWO_CELLS.test(character) ? 2 : 1
  return cells
}
