import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs'
import { movePrivateFile } from '../config/index.ts'
import { type StoreLocation, settleSqlite } from './store/index.ts'

export type SqliteLocation = Extract<StoreLocation, { readonly kind: 'sqlite' }>

/**
 * Has a store made beside the one of a home, and gives it that one's place once it is whole and the disk has it: before that
 * nothing has changed, whatever ends it.
 * @param swap happens just before
 */
export async function takeNewStore<Result>(
  location: SqliteLocation,
  make: (draft: SqliteLocation) => Promise<Result>,
  swap: () => void = () => undefined,
): Promise<Result> {
  const draft = draftOf(location)
  sweep(draft)
  try {
    const made = await make(draft)
    settleSqlite(draft.path)
    syncFile(draft.path)
    swap()
    movePrivateFile(draft.path, location.path)
    return made
  } finally {
    sweep(draft)
  }
}

/** Removes one that was not finished. The caller has the home's lock. */
export function forgetNewStore(location: SqliteLocation): void {
  sweep(draftOf(location))
}

function draftOf({ path }: SqliteLocation): SqliteLocation {
  return { kind: 'sqlite', path: `${path}.restored`, replayPath: `${path}.restored-proofs` }
}

function sweep({ path, replayPath }: SqliteLocation): void {
  for (const file of [path, replayPath]) {
    for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${ending}`, { force: true })
  }
}

function syncFile(path: string): void {
  const descriptor = openSync(path, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
