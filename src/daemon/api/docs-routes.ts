import { join } from 'node:path'
import * as z from 'zod'
import { BrokerError } from '../../protocol/index.ts'
import { providerJsonSchema } from '../../schemas/index.ts'
import { apiDocsPage, DOCS_POLICY } from '../pages/index.ts'
import { builtFile } from './built-file.ts'
import { openApiDocument } from './openapi.ts'
import { type CallHeaders, type RawReply, type Route, route } from './route.ts'

export interface DocsOptions {
  readonly version: string
  readonly baseUrl: string
  /** What a hosted daemon is as an OAuth client, for servers that look it up under our own URL. */
  readonly clientMetadata?: Readonly<Record<string, unknown>>
  /** What `npm run build` made. */
  readonly builtFolder: string
}

const anyDocument = z.record(z.string(), z.unknown())

/** Returns the routes that describe the API, made from `routes`; they describe themselves too. */
export function docsRoutes(routes: readonly Route[], options: DocsOptions): readonly Route[] {
  let document: object | undefined
  const own: readonly Route[] = [
    route({
      method: 'GET',
      path: '/openapi.json',
      access: 'anyone',
      summary: 'This API as an OpenAPI 3.1 document.',
      reply: anyDocument,
      handle: () => {
        document ??= openApiDocument([...routes, ...own], options)
        return { body: { ...document } }
      },
    }),
    route({
      method: 'GET',
      path: '/schemas/provider.json',
      access: 'anyone',
      summary: 'The JSON Schema of a provider definition.',
      reply: anyDocument,
      handle: () => ({ body: providerJsonSchema() }),
    }),
    route({
      method: 'GET',
      path: '/docs',
      access: 'anyone',
      summary: 'This API as a page to read.',
      reply: z.unknown(),
      handle: () => ({
        raw: apiDocsPage(),
        headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': DOCS_POLICY },
      }),
    }),
    route({
      method: 'GET',
      path: '/oauth/client-metadata.json',
      access: 'anyone',
      summary:
        'This daemon as an OAuth client: its URL is the client id at servers that take one. Hosted daemons only.',
      reply: anyDocument,
      handle: () => {
        if (options.clientMetadata) return { body: { ...options.clientMetadata } }
        throw new BrokerError('NotFoundError', 'Providers cannot reach this daemon: it has no public URL')
      },
    }),
    ...SWAGGER_FILES.map((name) =>
      route({
        method: 'GET',
        path: `/docs/assets/${name}`,
        access: 'anyone',
        summary: 'A file of the page above.',
        reply: z.unknown(),
        handle: ({ headers }) => swaggerFile(join(options.builtFolder, 'api-docs', name), headers),
      }),
    ),
  ]
  return own
}

const SWAGGER_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js'] as const

// Read when it is asked for: most daemons never show this page.
function swaggerFile(path: string, headers: CallHeaders): RawReply {
  const file = builtFile(path, headers)
  if (!file) throw new BrokerError('NotFoundError', 'This page is not built: run `npm run build`, then reload')
  return file
}
