/** What moves, hides or reorders text: controls, marks of direction, zero-width characters, separators of lines. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Text of others, with what cannot be seen in it spelled out. For attributes and sentences; {@link Said} where it stands. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16)
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
  })
}

/** Text that a provider, an agent or a request says of itself: nothing in it changes how what is beside it reads. */
export function Said({ children }: { readonly children: string }) {
  return <bdi>{visible(children)}</bdi>
}
