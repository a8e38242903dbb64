import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { pathOf } from './named-server.ts'

/** What npm sends to publish, and gets again: the document of a package. */
interface Packument {
  readonly versions: Record<string, { readonly dist: { tarball: string } }>
  readonly 'dist-tags': Record<string, string>
  _attachments?: Record<string, { readonly data: string }>
}

/** A registry of npm packages in memory, at this address; whoever gets here may do all. */
export function npmRegistry(base: string): RequestListener {
  const documents = new Map<string, Packument>()
  const tarballs = new Map<string, Buffer>()
  const prefix = new URL(base).pathname

  async function publish(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { _attachments: attachments = {}, ...document } = (await json(request)) as Packument
    for (const [file, { data }] of Object.entries(attachments)) tarballs.set(file, Buffer.from(data, 'base64'))
    // npm itself writes an address with http:// there.
    for (const [version, { dist }] of Object.entries(document.versions))
      dist.tarball = `${base}${name}/-/${name}-${version}.tgz`
    documents.set(name, document)
    response.writeHead(201, { 'content-type': 'application/json' }).end('{"ok":true}')
  }

  function read(path: string, response: ServerResponse): void {
    const [name = '', file] = path.split('/-/')
    const found = file === undefined ? documents.get(name) : tarballs.get(file)
    if (found === undefined) response.writeHead(404).end('{}')
    else if (found instanceof Buffer) response.writeHead(200).end(found)
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found))
  }

  return (request, response) => {
    const path = decodeURIComponent(pathOf(request.url).slice(prefix.length))
    if (request.method === 'PUT') void publish(path, request, response)
    else read(path, response)
  }
}
