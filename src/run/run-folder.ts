import { lstatSync, mkdtempSync, readdirSync, rmSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from './is-alive.ts'

const NAME = /^broker-run-(\d+)-[A-Za-z0-9]{6}$/

/** A new folder under `parent` for the files of this process's run, closed to everyone else (`mkdtemp` makes it 0700). */
export function createRunFolder(parent: string): string {
  return mkdtempSync(join(parent, `broker-run-${process.pid}-`))
}

export function removeRunFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}

/** Removes what runs left behind that were killed: folders of ours whose process is gone. */
export function sweepRunFolders(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(NAME.exec(name)?.[1])
    if (pid > 0 && !isAlive(pid) && isOwnFolder(join(parent, name))) removeRunFolder(join(parent, name))
  }
}

function isOwnFolder(path: string): boolean {
  const stat = statOf(path)
  return stat?.isDirectory() === true && stat.uid === process.getuid?.()
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}
