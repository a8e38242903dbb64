import { lstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { BrokerError } from '../protocol/index.ts'
import { isAlive } from './is-alive.ts'

const NAME = /^broker-run-(\d+)-(\d+)-[A-Za-z0-9]{6}$/

/**
 * Numbers of processes mean something within one PID namespace alone, and containers may share a folder for temporary
 * files. `0` where the system has none.
 */
const NAMESPACE = pidNamespace()

/** A new folder under `parent` for the files of this process's run, closed to everyone else (`mkdtemp` makes it 0700). */
export function createRunFolder(parent: string): string {
  try {
    return mkdtempSync(join(parent, `broker-run-${process.pid}-${NAMESPACE}-`))
  } catch (cause) {
    throw new BrokerError('OperationNotAllowedError', `Cannot make a folder in "${parent}" for the files of this run`, {
      hint: 'Let TMPDIR name a folder that you may write to.',
      cause,
    })
  }
}

export function removeRunFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}

/** Removes what runs left behind that were killed: folders of ours whose process is gone. */
export function sweepRunFolders(parent: string): void {
  for (const name of namesIn(parent)) {
    const [, pid, namespace] = NAME.exec(name) ?? []
    if (namespace === NAMESPACE && !isAlive(Number(pid)) && isOwnFolder(join(parent, name)))
      removeRunFolder(join(parent, name))
  }
}

function isOwnFolder(path: string): boolean {
  const stat = statOf(path)
  return stat?.isDirectory() === true && stat.uid === process.getuid?.()
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D+/g, '')
  } catch {
    return '0'
  }
}
