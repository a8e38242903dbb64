import * as z from 'zod'
import { ERROR_NAMES } from '../../protocol/index.ts'
import { type Access, shapeNames } from '../../schemas/index.ts'
import { refusals, refusalsOf } from './openapi-errors.ts'
import type { Route } from './route.ts'

/** The OpenAPI 3.1 document of these routes, made from the very schemas they validate with. */
export function openApiDocument(routes: readonly Route[], { version, baseUrl }: { version: string; baseUrl: string }) {
  const paths: Record<string, Record<string, object>> = {}
  const shapes = new Shapes()
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route, shapes) }
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
      schemas: { Error: errorBody, ...shapes.named() },
      responses: refusals({ $ref: `${COMPONENTS}Error` }),
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
  'principal or run': 'Signed by an identity, by the key of one of its runs, or by a browser that is signed in.',
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
  'principal or run': ['pop', 'session'],
  'principal or suspended': ['pop', 'session'],
  admin: ['pop', 'session'],
  operator: ['operator'],
}

function operation(route: Route, shapes: Shapes): object {
  return {
    operationId: operationId(route),
    tags: [subject(route)],
    summary: route.summary,
    description: callers[route.access],
    security: security[route.access].map((scheme) => ({ [scheme]: [] })),
    parameters: [...parameters(route.params, 'path', shapes), ...parameters(route.query, 'query', shapes)],
    ...(route.body && {
      requestBody: { required: isRequired(route.body), content: json(shapes.schemaOf(route.body, 'input')) },
    }),
    responses: {
      ...(route.switchesTo === undefined
        ? {
            [String(route.status ?? 200)]: {
              description: 'Done',
              content: json(shapes.schemaOf(route.reply, 'output')),
            },
          }
        : { 101: { description: `The connection speaks ${route.switchesTo} from here on.` } }),
      ...refusalsOf(route),
      default: {
        description: 'An error',
        content: json({ $ref: `${COMPONENTS}Error` }),
      },
    },
  }
}

/** A page and an endpoint may have one name: `/connections` shows what `/api/connections` lists. */
function operationId({ method, path, isPage }: Route): string {
  const all = path.split(/[/{}._-]+/).filter((word) => word !== '' && word !== 'api')
  const words = isPage ? [...all, 'page'] : all
  return [method.toLowerCase(), ...words].join('_')
}

/** Returns what the path is about: what the documentation groups by. */
function subject({ path }: Route): string {
  return path.split('/').find((part) => part !== '' && part !== 'api') ?? 'api'
}

function isRequired(schema: z.ZodType): boolean {
  return !schema.safeParse({}).success
}

function json(schema: object) {
  return { 'application/json': { schema } }
}

const COMPONENTS = '#/components/schemas/'

/** Shapes as JSON Schemas: one that has a name is named where it is used, and described once. */
class Shapes {
  readonly #named = new Map<string, object>()

  schemaOf(schema: z.ZodType, io: 'input' | 'output'): object {
    const made = z.toJSONSchema(schema, { io, unrepresentable: 'any', metadata: withNames })
    const text = JSON.stringify(made).replaceAll('"#/$defs/', `"${COMPONENTS}`)
    const { $schema: _, $defs = {}, ...rest } = JSON.parse(text) as { $schema: string; $defs?: Record<string, object> }
    for (const [name, shape] of Object.entries($defs)) this.#name(name, shape)
    return rest
  }

  named(): Record<string, object> {
    return Object.fromEntries([...this.#named].toSorted(([one], [other]) => (one < other ? -1 : 1)))
  }

  #name(name: string, { id: _, ...shape }: { readonly id?: string }): void {
    const known = this.#named.get(name)
    if (known && JSON.stringify(known) !== JSON.stringify(shape)) throw new Error(`two shapes are called ${name}`)
    this.#named.set(name, shape)
  }
}

/** What the schemas say of themselves, and their names. */
const withNames = new (class extends z.core.$ZodRegistry<z.core.GlobalMeta> {
  override get(schema: z.core.$ZodType): z.core.GlobalMeta {
    const id = shapeNames.get(schema)
    return { ...z.globalRegistry.get(schema), ...(id !== undefined && { id }) }
  }
})()

function parameters(schema: z.ZodType | undefined, place: 'path' | 'query', shapes: Shapes): readonly object[] {
  if (!(schema instanceof z.ZodObject)) return []
  return Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, part]) => ({
    name,
    in: place,
    required: place === 'path',
    schema: shapes.schemaOf(part, 'input'),
  }))
}
