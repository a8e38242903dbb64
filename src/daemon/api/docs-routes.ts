import * as z from 'zod'
import { providerDefinition } from '../../schemas/index.ts'
import { openApiDocument } from './openapi.ts'
import { type Route, route } from './route.ts'

export interface DocsOptions {
  readonly version: string
  readonly baseUrl: string
}

const document = z.record(z.string(), z.unknown())

/** What describes the API, made from `routes`; the describing routes describe themselves too. */
export function docsRoutes(routes: readonly Route[], options: DocsOptions): readonly Route[] {
  const own: readonly Route[] = [
    route({
      method: 'GET',
      path: '/openapi.json',
      access: 'anyone',
      summary: 'This API as an OpenAPI 3.1 document.',
      reply: document,
      handle: () => ({ body: { ...openApiDocument([...routes, ...own], options) } }),
    }),
    route({
      method: 'GET',
      path: '/schemas/provider.json',
      access: 'anyone',
      summary: 'The JSON Schema of a provider definition.',
      reply: document,
      handle: () => ({ body: z.toJSONSchema(providerDefinition, { io: 'input' }) }),
    }),
  ]
  return own
}
