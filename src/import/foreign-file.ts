import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'

const MAX_BYTES = 1024 * 1024

/**
 * The text of a file that somebody else wrote; undefined where there is none, or none that should be read: `skip` hears
 * why.
 */
export function readForeignFile(path: string, skip: (why: string) => void): string | undefined {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (!stat) return undefined
    const real = stat.isSymbolicLink() ? withinItsFolder(path) : path
    return real === undefined ? refuse(skip, 'it is a link out of its folder') : readText(real, skip)
  } catch (error) {
    return refuse(
      skip,
      error instanceof Error && 'code' in error ? `it cannot be read (${error.code})` : 'it cannot be read',
    )
  }
}

function withinItsFolder(path: string): string | undefined {
  try {
    const real = realpathSync(path)
    return dirname(real) === realpathSync(dirname(path)) ? real : undefined
  } catch {
    return undefined
  }
}

function readText(path: string, skip: (why: string) => void): string | undefined {
  // Without waiting, as a FIFO must not hold the command up; and no link that came in its place since it was looked at.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) return refuse(skip, 'it is no regular file')
    if (stat.size > MAX_BYTES) return refuse(skip, 'it is larger than 1 MiB')
    const bytes = Buffer.alloc(stat.size)
    const length = readSync(descriptor, bytes, 0, stat.size, 0)
    if (/^(?:fffe|feff)/.test(bytes.toString('hex', 0, 2))) return refuse(skip, 'it is UTF-16: save it as UTF-8')
    if (bytes.includes(0)) return refuse(skip, 'it is not text')
    return bytes.toString('utf8', 0, length).replace(/^\uFEFF/, '')
  } finally {
    closeSync(descriptor)
  }
}

function refuse(skip: (why: string) => void, why: string): undefined {
  skip(why)
  return undefined
}
