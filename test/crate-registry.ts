import { createHash } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { commitFiles, gitService, makeRepository } from './git-server.ts'
import { pathOf } from './named-server.ts'

export interface CrateRegistry {
  /**
   * Everything at its address: the API, the downloads, the index by git, and below `index/` by plain requests ("sparse"),
   * where it says that it wants the token each time.
   */
  readonly service: RequestListener
  /** Its index by git. */
  readonly gitIndex: RequestListener
  /** Its index by plain requests, from the root of a host. */
  readonly sparseIndex: RequestListener
}

/** A registry of crates at this address, whose index is a repository of that name below `root`. Whoever gets here may do all. */
export function crateRegistry(base: string, root: string, repository: string): CrateRegistry {
  const { pathname } = new URL(base)
  const crates = new Map<string, Buffer>()
  const addresses = { dl: `${base}api/v1/crates`, api: base.replace(/\/$/, '') }
  const index: Record<string, string> = { 'config.json': JSON.stringify(addresses) }
  makeRepository(root, repository, index)

  async function publish(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    const end = 4 + body.readUInt32LE(0)
    const { name, vers } = JSON.parse(body.toString('utf8', 4, end))
    const crate = body.subarray(end + 4)
    crates.set(`${name}/${vers}`, crate)
    const cksum = createHash('sha256').update(crate).digest('hex')
    index[`${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`] =
      `${JSON.stringify({ name, vers, deps: [], cksum, features: {}, yanked: false })}\n`
    commitFiles(root, repository, index)
    response.end('{"warnings":{"invalid_categories":[],"invalid_badges":[],"other":[]}}')
  }

  const gitIndex = gitService(root)
  const sparseIndex: RequestListener = (request, response) => answer(response, index[pathOf(request.url).slice(1)])
  return {
    gitIndex,
    sparseIndex,
    service(request, response) {
      const path = `/${pathOf(request.url).slice(pathname.length)}`
      const crate = /^\/api\/v1\/crates\/([^/]+\/[^/]+)\/download$/.exec(path)?.[1]
      if (path === '/api/v1/crates/new') void publish(request, response)
      else if (crate !== undefined) answer(response, crates.get(crate))
      else if (path === '/index/config.json') answer(response, JSON.stringify({ ...addresses, 'auth-required': true }))
      else if (path.startsWith('/index/')) answer(response, index[path.slice('/index/'.length)])
      else gitIndex(request, response)
    },
  }
}

function answer(response: ServerResponse, found: string | Buffer | undefined): void {
  response.writeHead(found === undefined ? 404 : 200).end(found)
}
