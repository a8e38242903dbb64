import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { BrokerError } from '../../protocol/index.ts'
import { dashboardPolicy, resultPage } from '../pages/index.ts'
import { builtFile } from './built-file.ts'
import { page } from './page-reply.ts'
import { type CallHeaders, type RawReply, type Route, route } from './route.ts'

/** Where the dashboard has pages; each is the same document, which shows the page of its address. */
const PAGES = ['/', '/connections', '/providers', '/agents', '/audit', '/settings'] as const

/** Filters, and where to go on after signing in: read in the browser. */
const anyQuery = z.looseObject({})

export interface DashboardRoutesOptions {
  /** What `npm run build` made; where there is none, the pages say so. */
  readonly builtFolder: string
  /** Whether there can be new accounts. */
  readonly registration: 'open' | 'closed'
}

/** The dashboard as it was built: one document and the files it loads. */
export function dashboardRoutes(options: DashboardRoutesOptions): readonly Route[] {
  return [
    ...PAGES.map((path) =>
      route({
        method: 'GET',
        path,
        access: 'anyone',
        isPage: true,
        isReturn: true,
        summary: 'The dashboard. What it shows it asks for by itself, once somebody is signed in.',
        query: anyQuery,
        reply: z.unknown(),
        handle: () => shell(options),
      }),
    ),
    route({
      method: 'GET',
      path: '/dashboard/{name}',
      access: 'anyone',
      summary: 'A file of the dashboard; its name changes with its content.',
      params: z.strictObject({ name: z.string().regex(/^[A-Za-z0-9_-]+\.(?:js|css|svg)$/) }),
      reply: z.unknown(),
      handle: ({ params: { name }, headers }) => asset(join(options.builtFolder, 'dashboard', name), headers),
    }),
  ]
}

function shell({ builtFolder, registration }: DashboardRoutesOptions): RawReply {
  const path = join(builtFolder, 'index.html')
  if (!existsSync(path)) {
    const [message, hint] = ['The dashboard of this checkout is not built.', 'Run `npm run build`, then reload.']
    return page(503, resultPage({ title: 'Not built yet', message, hint, tone: 'failure' }))
  }
  const nonce = randomBytes(16).toString('base64url')
  return {
    raw: readFileSync(path, 'utf8').replace('%NONCE%', nonce).replace('%REGISTRATION%', registration),
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': dashboardPolicy(nonce) },
  }
}

function asset(path: string, headers: CallHeaders): RawReply {
  const file = builtFile(path, headers)
  if (!file) throw new BrokerError('NotFoundError', 'The dashboard has no such file; load its page again')
  return { ...file, headers: { ...file.headers, 'cache-control': 'public, max-age=31536000, immutable' } }
}
