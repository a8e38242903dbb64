const [TAB, SPACE] = [0x09, 0x20]

/**
 * The value of a header without the white space around it, which is spaces and tabs and nothing else (RFC 9110 section
 * 5.5). `trim()` would take a byte 0xa0 too: two readers of one head would then differ on how long its body is.
 */
export function withoutOptionalSpace(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && isBlank(text, from)) from += 1
  while (from < to && isBlank(text, to - 1)) to -= 1
  return text.slice(from, to)
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === SPACE || code === TAB
}
