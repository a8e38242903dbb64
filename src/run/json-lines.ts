import type { Duplex } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

const LONGEST = 1024 * 1024

/** Gives each line of a stream as the value that it is in JSON; ends the stream where a line is none, or too long. */
export function readJsonLines(stream: Duplex, take: (value: unknown) => void): void {
  let rest = ''
  const decoder = new StringDecoder('utf8')
  stream.on('data', (chunk: Buffer) => {
    rest += decoder.write(chunk)
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    const isTooLong = rest.length > LONGEST
    try {
      if (isTooLong) throw new Error('A line is too long')
      for (const line of lines) take(JSON.parse(line))
    } catch {
      stream.destroy()
    }
  })
}

export function writeJsonLine(stream: Duplex, value: unknown): void {
  if (stream.writable) stream.write(`${JSON.stringify(value)}\n`)
}
