import { existsSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import type { CallHeaders, RawReply } from './route.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** A file that `npm run build` made, with the compressed one that it put beside it; undefined where it made none. */
export function builtFile(path: string, { takesBrotli }: CallHeaders): RawReply | undefined {
  if (!existsSync(path)) return undefined
  const compressed = takesBrotli && existsSync(`${path}.br`)
  return {
    raw: new Uint8Array(readFileSync(compressed ? `${path}.br` : path)),
    headers: {
      'content-type': TYPES[extname(path)] ?? '',
      vary: 'accept-encoding',
      ...(compressed && { 'content-encoding': 'br' }),
    },
  }
}
