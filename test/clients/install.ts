import { existsSync } from 'node:fs'
import { installedNode, installedPrograms, installedSet, installedWheels } from './cache.ts'
import type { Client } from './client.ts'

/** What a client needs, as it was found. */
export interface Installed {
  /** Folders for the front of its `PATH`. */
  readonly path: readonly string[]
  /** Folder with its `node_modules`. */
  readonly modules: string | undefined
  /** Folder with its Python packages. */
  readonly wheels: string | undefined
}

/** Installs what it needs from npm and Python's index. Rejects with the reason where that cannot be had. */
export async function install({ node, packages, tools = [], wheels, programs = {} }: Client): Promise<Installed> {
  const missing = Object.keys(programs).filter((program) => !existsSync(program))
  if (missing.length > 0) throw new Error(`no ${missing.join(', ')}`)
  const nodeFolder = node && (await installedNode(node))
  const toolFolders = await Promise.all(tools.map(installedPrograms))
  return {
    path: [...toolFolders, ...(nodeFolder ? [nodeFolder] : [])],
    modules: packages && (await installedSet(packages)),
    wheels: wheels && (await installedWheels(wheels)),
  }
}
