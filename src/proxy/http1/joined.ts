/** Head, body bytes and what goes behind them in one buffer, so that they go out in one write; copies only where there is more than one. */
export function joined(head: string, body: Buffer, behind: Buffer | undefined): Buffer {
  if (head === '' && behind === undefined) return body
  const out = Buffer.allocUnsafe(head.length + body.length + (behind?.length ?? 0))
  out.write(head, 0, 'latin1')
  body.copy(out, head.length)
  behind?.copy(out, head.length + body.length)
  return out
}

/** Two parts in one buffer, without a copy where they lie side by side, as what was read at once does. */
export function adjoined(first: Buffer, second: Buffer): Buffer {
  if (second.length === 0) return first
  const end = first.byteOffset + first.length
  const isAdjacent = first.buffer === second.buffer && end === second.byteOffset
  return isAdjacent
    ? Buffer.from(first.buffer, first.byteOffset, first.length + second.length)
    : Buffer.concat([first, second])
}
