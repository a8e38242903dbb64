import * as z from 'zod'
import { ERROR_NAMES } from '../../protocol/index.ts'
import type { Access } from '../../schemas/index.ts'
import type { Route } from './route.ts'

/** The OpenAPI 3.1 document of these routes, made from the very schemas they validate with. */
export function openApiDocument(routes: readonly Route[], { version, baseUrl }: { version: string; baseUrl: string }) {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Broker',
      version,
      description:
        'A local credential broker. Every protected route wants a proof of possession for the request itself.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    paths,
    components: {
      schemas: { Error: errorBody },
      securitySchemes: {
        pop: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description:
            '`PoP <jwt>`: an Ed25519-signed JWT over method, URL and body, good once, for at most 60 seconds.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'broker_session',
          description:
            "A browser's session; `__Host-broker_session` over https. What changes anything wants the session's `x-csrf-token` too.",
        },
        operator: {
          type: 'apiKey',
          in: 'header',
          name: 'x-broker-operator',
          description: "The text of `server/operator.secret` in the daemon's home.",
        },
      },
    },
  }
}

const errorBody = {
  type: 'object',
  required: ['error', 'message', 'request_id'],
  properties: {
    error: { type: 'string', enum: ERROR_NAMES },
    message: { type: 'string' },
    request_id: { type: 'string' },
    provider: { type: 'string' },
    connection: { type: 'string' },
    hint: { type: 'string' },
    claim_url: { type: 'string' },
    details: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
}

const callers: Readonly<Record<Access, string>> = {
  anyone: 'Anyone may call this.',
  key: 'Signed by an Ed25519 key, which need not be registered or claimed yet.',
  'key or browser': 'Signed by an Ed25519 key, which need not be claimed yet, or by a browser that is signed in.',
  run: 'Signed by an identity, or by the key of one of its runs.',
  agent: 'Signed by an identity.',
  browser: 'By a browser that is signed in.',
  principal: 'Signed by an identity, or by a browser that is signed in.',
  'principal or suspended':
    'Signed by an identity, also while the vault is sealed or its rows were changed, or by a browser that is signed in.',
  admin: 'Signed by an identity, or by a browser that is signed in, of an admin.',
  operator: "On the daemon's own machine, with the secret of its home.",
}

const security: Readonly<Record<Access, readonly ('pop' | 'session' | 'operator')[]>> = {
  anyone: [],
  key: ['pop'],
  'key or browser': ['pop', 'session'],
  run: ['pop'],
  agent: ['pop'],
  browser: ['session'],
  principal: ['pop', 'session'],
  'principal or suspended': ['pop', 'session'],
  admin: ['pop', 'session'],
  operator: ['operator'],
}

function operation(route: Route): object {
  return {
    operationId: operationId(route),
    tags: [subject(route)],
    summary: route.summary,
    description: callers[route.access],
    security: security[route.access].map((scheme) => ({ [scheme]: [] })),
    parameters: [...parameters(route.params, 'path'), ...parameters(route.query, 'query')],
    ...(route.body && { requestBody: { required: isRequired(route.body), content: content(route.body, 'input') } }),
    responses: {
      [String(route.status ?? 200)]: { description: 'Done', content: content(route.reply, 'output') },
      default: {
        description: 'An error',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  }
}

function operationId({ method, path }: Route): string {
  const words = path.split(/[/{}._-]+/).filter((word) => word !== '' && word !== 'api')
  return [method.toLowerCase(), ...words].join('_')
}

/** What the path is about: what the documentation groups by. */
function subject({ path }: Route): string {
  return path.split('/').find((part) => part !== '' && part !== 'api') ?? 'api'
}

function isRequired(schema: z.ZodType): boolean {
  return !schema.safeParse({}).success
}

function content(schema: z.ZodType, io: 'input' | 'output') {
  return { 'application/json': { schema: jsonSchema(schema, io) } }
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

function parameters(schema: z.ZodType | undefined, place: 'path' | 'query'): readonly object[] {
  if (!(schema instanceof z.ZodObject)) return []
  return Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, part]) => ({
    name,
    in: place,
    required: place === 'path',
    schema: jsonSchema(part, 'input'),
  }))
}
