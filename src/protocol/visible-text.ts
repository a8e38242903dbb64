/** Controls, marks of direction, zero-width characters, separators of lines; not what lays out text: tab and line end. */
const UNSEEN = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Text for people's eyes, with what moves, hides or reorders text spelled out: `\u202e`. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16)
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
  })
}
