import type { Field } from './head.ts'

/** Takes a body, piece by piece. An edge that writes a message is one. */
export interface BodySink {
  /**
   * Takes the next piece; false where no further one is wanted before {@link Body.resume}. The first comes at once, and is
   * empty where nothing is there yet: a writer may keep its head until then, so that both leave together.
   */
  write(piece: Buffer): boolean
  /**
   * Hears that the body has ended.
   * @param trailers that came behind the pieces, as HTTP/2 has them; those of HTTP/1.1 are in its last chunk, and in no list
   */
  end(trailers?: readonly Field[]): void
}

/** Changes a body on its way. It gets the data alone, whatever it was framed in, and what it gives is framed anew. */
export interface BodyDecoder {
  /** Of one that may change how long a body is whose length was said: by how many bytes, once that is known. */
  readonly lengthChange?: number | undefined
  /** Set once the data broke its grammar: nothing more may be read. */
  readonly malformed: boolean
  /** Set once all of it was there. A body that ends before is ill-formed. */
  readonly complete: boolean
  read(data: Buffer, onData: (decoded: Buffer) => void): void
}

/** How a body passes. */
export interface Passage {
  /** Names (lower case, `-`) that were put into the head by the proxy: no edge drops them, and no trailer may carry them. */
  readonly injected: ReadonlySet<string>
  /** Takes the place of the bytes as they came. */
  readonly decoder?: BodyDecoder | undefined
  /** Takes the place of what the child sends once the stream left HTTP. */
  readonly switched?: BodyDecoder | undefined
  /** Set by a writer that speaks no chunks: it gets the data, and trailers with the end. */
  readonly dataAlone?: true
}

/** The body of a message, in the hands of the edge that reads it. What nobody takes stays there, and its sender is slowed down. */
export interface Body {
  /** Bytes that were read of it, framing included. */
  readonly bytes: number
  /** Set once it was read to its end, or from the beginning where there is none. */
  readonly done: boolean
  /** Hands it over from now on: exactly as it came, unless `passage` says otherwise. One that is `done` can be taken again. */
  flowTo(sink: BodySink, passage: Passage): void
  /** Goes on after {@link BodySink.write} said false. */
  resume(): void
}

/** Hears, once, what became of {@link RequestBody.collect}. */
export interface Collector {
  /** @param body all of it, as it came. @param sha256 of its data, in hex */
  onCollected(body: Body, sha256: string): void
  onTooLong(): void
}

export interface RequestBody extends Body {
  /** Holds it until all of it is there. @param limit in bytes; more than this is too long */
  collect(limit: number, collector: Collector): void
}
