import { execFileSync, spawn } from 'node:child_process'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { type NamedServer, onlyWith, startNamedServer } from './named-server.ts'

/** Git's own smart HTTP server with TLS, on loopback, under these names; it lets nobody in without their credential. */
export function startGitServer(root: string, wanted: Readonly<Record<string, string>>): Promise<NamedServer> {
  const services = Object.entries(wanted).map(([host, authorization]) => [
    host,
    onlyWith(authorization, 'Basic realm="git"', gitService(root)),
  ])
  return startNamedServer(Object.fromEntries(services))
}

/** Git's own smart HTTP server for the repositories below `root`. */
export function gitService(root: string): RequestListener {
  return (request, response) => answer(root, request, response)
}

/** A bare repository with one commit on `main`. */
export function makeRepository(root: string, name: string, files: Readonly<Record<string, string>> = {}): void {
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', join(root, name)])
  commitFiles(root, name, files)
}

/** A commit on `main` with these files, by their paths, and no others. */
export function commitFiles(root: string, name: string, files: Readonly<Record<string, string>>): void {
  const git = (args: readonly string[], input = '') =>
    execFileSync('git', ['-C', join(root, name), ...args], {
      input,
      encoding: 'utf8',
      env: { ...gitEnvironment(root), GIT_INDEX_FILE: join(root, name, 'index-of-commit') },
    }).trim()
  const entries = Object.entries(files).map(
    ([path, text]) => `100644 ${git(['hash-object', '-w', '--stdin'], text)}\t${path}\n`,
  )
  git(['read-tree', '--empty'])
  git(['update-index', '--add', '--index-info'], entries.join(''))
  git(['update-ref', 'refs/heads/main', git(['commit-tree', git(['write-tree']), '-m', 'Begin'])])
}

/** An author, and nothing from the configuration of whoever runs the test. */
export function gitEnvironment(home: string): Readonly<Record<string, string>> {
  const who = { name: 'Ada', email: 'ada@example.test' }
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: who.name,
    GIT_AUTHOR_EMAIL: who.email,
    GIT_COMMITTER_NAME: who.name,
    GIT_COMMITTER_EMAIL: who.email,
  }
}

/** `git http-backend` is a CGI program. */
function answer(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'https://git.test')
  const header = (name: string) => String(request.headers[name] ?? '')
  const backend = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: 'ada',
      REQUEST_METHOD: request.method,
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: header('content-type'),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      HTTP_GIT_PROTOCOL: header('git-protocol'),
    },
  })
  backend.stdin.on('error', () => undefined)
  request.pipe(backend.stdin)
  const parts: Buffer[] = []
  backend.stdout.on('data', (part: Buffer) => parts.push(part))
  backend.on('close', () => {
    const output = Buffer.concat(parts)
    const end = output.indexOf('\r\n\r\n')
    const fields = output
      .subarray(0, end)
      .toString('latin1')
      .split('\r\n')
      .map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])
    const status = fields.find(([name]) => name === 'Status')?.[1] ?? '200'
    response.writeHead(Number.parseInt(status, 10), Object.fromEntries(fields))
    response.end(output.subarray(end + 4))
  })
}
