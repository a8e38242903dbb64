import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import * as z from 'zod'
import { providerJsonSchema } from '../../schemas/index.ts'
import { apiDocsPage, DOCS_POLICY } from '../pages/index.ts'
import { openApiDocument } from './openapi.ts'
import { type Route, route } from './route.ts'

export interface DocsOptions {
  readonly version: string
  readonly baseUrl: string
}

const anyDocument = z.record(z.string(), z.unknown())

/** What describes the API, made from `routes`; the describing routes describe themselves too. */
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
    ...Object.entries(SWAGGER_FILES).map(([name, contentType]) =>
      route({
        method: 'GET',
        path: `/docs/assets/${name}`,
        access: 'anyone',
        summary: 'A file of the page above.',
        reply: z.unknown(),
        handle: () => ({ raw: swaggerFile(name), headers: { 'content-type': contentType } }),
      }),
    ),
  ]
  return own
}

const SWAGGER_FILES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
}

// Read when it is asked for: most daemons never show this page.
function swaggerFile(name: string): Uint8Array<ArrayBuffer> {
  return readFileSync(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`))
}
