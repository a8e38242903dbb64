const EMPTY: Buffer = Buffer.alloc(0)
const MIN_ROOM = 1_024

/** Bytes that came in pieces, in one: each is copied a bounded number of times, however small the pieces are. */
export class GatheredBytes {
  #bytes: Buffer = EMPTY
  /** Memory in which `bytes` grow; empty while they are the one piece that came. What lies before its end is never written again. */
  #room: Buffer = EMPTY
  #end = 0

  /** Those that were not dropped. They stay as they are, also when more come. */
  get bytes(): Buffer {
    return this.#bytes
  }

  append(piece: Buffer): void {
    const { length } = this.#bytes
    if (length === 0) {
      this.#bytes = piece
      this.#room = EMPTY
      this.#end = 0
      return
    }
    if (this.#end + piece.length > this.#room.length) this.#move(length + piece.length)
    piece.copy(this.#room, this.#end)
    this.#end += piece.length
    this.#bytes = this.#room.subarray(this.#end - length - piece.length, this.#end)
  }

  /** Forgets the first `count` of them. */
  drop(count: number): void {
    this.#bytes = count === this.#bytes.length ? EMPTY : this.#bytes.subarray(count)
  }

  clear(): void {
    this.#bytes = EMPTY
  }

  #move(needed: number): void {
    const room = Buffer.allocUnsafeSlow(Math.max(MIN_ROOM, needed * 2))
    this.#end = this.#bytes.copy(room)
    this.#room = room
  }
}
