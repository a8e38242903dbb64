// C0 and C1 controls, DEL, and the marks that reorder text on a line.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
const UNPRINTABLE_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Text of a server or a file as one line that cannot move the cursor, set the clipboard or hide what follows. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => (character === '\n' ? ' ' : escaped(character)))
}

/** The same for a JSON document, whose strings keep their values. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(UNPRINTABLE_IN_JSON, escaped)
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
