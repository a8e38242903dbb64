import { BrokerError } from '../../protocol/index.ts'

/** Returns where a page ended, opaque to the caller. */
export function printCursor(seq: number): string {
  return Buffer.from(`seq:${seq}`).toString('base64url')
}

/** @throws BrokerError InvalidRequestError */
export function parseCursor(cursor: string): number {
  const seq = Number(/^seq:(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1])
  if (Number.isNaN(seq) || printCursor(seq) !== cursor) {
    throw new BrokerError('InvalidRequestError', 'The cursor is not one that this list gave out', {
      details: [{ path: 'cursor', message: 'must be the next_cursor of an earlier page' }],
    })
  }
  return seq
}
