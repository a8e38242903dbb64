import * as z from 'zod'
import { AUTH_TYPES, FLOWS, GRANTS, QUIRKS } from '../protocol/index.ts'
import { field } from './auth-session.ts'
import { providerName, shownText } from './common.ts'

/** What may stand in a header's value: printable ASCII without white space at its ends. */
const headerValue = z
  .string()
  .max(500)
  .regex(/^[!-~]([ -~]*[!-~])?$/, 'must be printable ASCII without white space at its ends')

const headerName = z
  .string()
  .max(100)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be an HTTP header name')

const parameterName = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9._~[\]-]+$/, 'must be letters, digits, ".", "_", "~", "-" or brackets')

const cookieName = z
  .string()
  .max(100)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of a cookie')

const jsonPointer = z
  .string()
  .max(200)
  .regex(/^(?:\/(?:[A-Za-z0-9_.@$-]|~[01])+)+$/, 'must be a JSON pointer to a member')

/** Text with `{field}` where a field of the credential goes. */
const template = z
  .string()
  .max(200)
  .regex(
    /^(?:[ -z|~]|\{[a-z][a-z0-9_]{0,31}\})+$/,
    'must be printable ASCII with "{field}" where a field of the credential goes',
  )

const url = z.string().max(500)

const boundHosts = z
  .array(z.string().min(1).max(500))
  .min(1)
  .max(100)
  .optional()
  .describe(
    'Some of `hosts`, as they stand there: the entry is sent on these in place of `api_key`, and nowhere else. With `{access_token}` or `{oauth_client_id}` it is for tokens, in place of `oauth`.',
  )

const anyEntry = {
  hosts: boundHosts,
  if_field: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,31}$/, 'must be the name of an optional field')
    .optional()
    .describe(
      'Sent only where this optional field of the key has a value: an entry behind it for the same place, or the usual form, is for the others.',
    ),
}

const injection = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('header'),
      name: headerName.describe('Header to set; the one the client sent is removed first.'),
      value: template.optional().describe('`{api_key}` if absent.'),
      ...anyEntry,
    }),
    z.strictObject({
      type: z.literal('query'),
      name: parameterName.describe('Query parameter to set; the one the client sent is removed first.'),
      value: template.optional().describe('`{api_key}` if absent.'),
      ...anyEntry,
    }),
    z.strictObject({
      type: z.literal('cookie'),
      name: cookieName.describe('Cookie to set; the one the client sent is removed first.'),
      value: template.optional().describe('`{api_key}` if absent.'),
      ...anyEntry,
    }),
    z.strictObject({
      type: z.literal('basic'),
      username: template.optional().describe('Empty if absent.'),
      password: template.optional().describe('Empty if absent.'),
      ...anyEntry,
    }),
    z.strictObject({
      type: z.literal('path'),
      prefix: z
        .string()
        .max(100)
        .regex(
          /^\/[A-Za-z0-9_-]+(?:(?:\/[A-Za-z0-9_-]+)*\/)?$/,
          'must be "/" and letters, digits, "_" or "-", or whole segments of them with a "/" behind each',
        )
        .describe(
          'The first segment of the path that begins like that becomes this and the key. With a "/" at its end: where the path begins like that, its next segment becomes the key.',
        ),
      ...anyEntry,
    }),
    z.strictObject({
      type: z.literal('body'),
      pointer: jsonPointer
        .optional()
        .describe(
          'The string of a JSON body that becomes the value (RFC 6901): `/auth/api_key`. Either this, or `field`.',
        ),
      field: parameterName.optional().describe('The field of a form that becomes the value.'),
      value: template.optional().describe('`{api_key}` if absent.'),
      ...anyEntry,
    }),
    z.strictObject({
      type: z.literal('websocket'),
      pointer: jsonPointer.describe(
        'The string of a text message of JSON that becomes the value (RFC 6901): `/d/token`.',
      ),
      frames: z
        .int()
        .min(1)
        .max(100)
        .optional()
        .describe('How many text messages from the beginning of a session it is looked for in; 1 if absent.'),
      value: template.optional().describe('`{api_key}` if absent.'),
      ...anyEntry,
    }),
  ])
  .describe(
    'One further place for the credential, or its place on some hosts. One that names `{access_token}` or `{oauth_client_id}` is for tokens, every other for keys. Left out of a request when it names an optional field that has no value.',
  )

/** The kinds of places that can carry a credential. */
export const PLACE_KINDS = injection.options.map((entry) => entry.shape.type.value) as [PlaceKind, ...PlaceKind[]]
type PlaceKind = z.infer<typeof injection>['type']

const apiKey = z.strictObject({
  header_name: headerName.optional().describe('Header that carries the key: `Authorization` if absent.'),
  prefix: headerValue
    .optional()
    .describe('Stands before the key, with one space unless it ends in `=` or `:`. The bare key if absent.'),
  encoding: z
    .enum(['none', 'basic'])
    .optional()
    .describe('`basic` sends base64 of `username:key`, after `Basic` unless there is another prefix.'),
  username: template.optional().describe('For `basic`. Empty if absent.'),
  password: template
    .optional()
    .describe('For `basic`. If absent it is the key, or empty where the user name contains `{api_key}`.'),
  query_param: parameterName.optional().describe('Carries the key in this query parameter, in place of the header.'),
  value: template
    .optional()
    .describe('What the header or parameter carries where that is more than a prefix and the key: `{id}:{api_key}`.'),
  pattern: z
    .string()
    .max(200)
    .optional()
    .describe(
      'What a whole key looks like: characters, classes, groups, `|` and counts. No look-around, back-references or flags.',
    ),
  example: headerValue.optional().describe('A made-up key that fits the pattern.'),
  fields: z
    .array(field)
    .min(1)
    .max(10)
    .optional()
    .describe(
      'What a login asks for, if it is more than the key. One of them is the required secret `api_key`; with the grant `client_credentials` they may be `client_id`, `client_secret` and others in its place.',
    ),
})

const oauth = z.strictObject({
  issuer: url.optional(),
  authorization_url: url.optional(),
  token_url: url.optional(),
  refresh_url: url.optional().describe('Where refreshes go, if not to `token_url`.'),
  device_authorization_url: url.optional(),
  revocation_url: url.optional(),
  registration_url: url.optional(),
  userinfo_url: url.optional(),
  scopes: z.array(headerValue.max(200)).max(200),
  scope_names: z
    .record(
      z.string().regex(/^[a-z][a-z0-9.-]{0,39}$/, 'must be lower-case letters, digits, "-" and ".", at most 40'),
      z.array(headerValue.max(200)).min(1).max(20),
    )
    .optional()
    .describe('Short names that a login may give in place of scopes: `{"drive": ["https://…/auth/drive"]}`.'),
  scope_separator: z.string().min(1).max(3).optional(),
  grant: z
    .enum(GRANTS)
    .optional()
    .describe(
      '`client_credentials`: a login by the flow `api_key` takes the id and the secret of a client, and tokens are got with them. What it asks for are the `fields` of `api_key`.',
    ),
  client_token_url: url
    .optional()
    .describe(
      'Where the grant `client_credentials` asks, if not at `token_url`. Like that with this grant, it may have `{field}` for a segment of its path.',
    ),
  client_auth_method: z
    .enum(['client_secret_post', 'client_secret_basic', 'private_key_jwt'])
    .optional()
    .describe('How a client proves itself with the grant `client_credentials`, if not as `token_auth_method` says.'),
  client_scopes: z
    .array(headerValue.max(200))
    .max(200)
    .optional()
    .describe('What the grant `client_credentials` asks for, where that is not `scopes`.'),
  token_auth_method: z
    .enum(['none', 'client_secret_post', 'client_secret_basic', 'private_key_jwt'])
    .optional()
    .describe(
      '`private_key_jwt` (RFC 7523 section 2.2) is for the grant `client_credentials`: where people log in too, it is a `client_auth_method`.',
    ),
  authorize_params: z.record(parameterName, z.string().max(500)).optional(),
  token_params: z
    .record(parameterName, z.string().max(500))
    .optional()
    .describe(
      'Of every token request. With the grant `client_credentials`, `{field}` stands for the value of a field, and `{base_url}` for the address of the tenant; a parameter that names one is sent with that grant alone.',
    ),
  resource: url.optional().describe('Resource indicator (RFC 8707); metadata is discovered from it.'),
  client_id: headerValue.optional().describe('A public client. Secrets are never part of a definition.'),
  quirks: z
    .array(z.enum(QUIRKS))
    .max(20)
    .optional()
    .describe('Ways in which this provider departs from OAuth, by name.'),
  header_name: headerName.optional().describe('Header that carries the token: `Authorization` if absent.'),
  prefix: z
    .string()
    .max(500)
    .regex(/^([!-~]([ -~]*[!-~])?)?$/, 'must be printable ASCII without white space at its ends')
    .optional()
    .describe('`Bearer` if absent; the bare token if empty.'),
})

const signing = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('aws_sigv4').describe('Each request is signed: AWS Signature Version 4.'),
    }),
    z.strictObject({
      type: z.literal('google_service_account').describe('A signed assertion is exchanged for a token (RFC 7523).'),
      token_url: url.describe('The one that the key file names is not used.'),
      scopes: z.array(headerValue.max(200)).min(1).max(200),
    }),
    z.strictObject({
      type: z.literal('github_app').describe('An app asks for a token of one of its installations.'),
      token_url: url.describe('With `{installation_id}` for one segment of its path.'),
    }),
  ])
  .describe('A key that signs and is never sent. What a login asks for follows from the type.')

const selfHosted = z.strictObject({
  like: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe(
      'One of `hosts`, as it stands there: requests to this place have the form of those to that host. The usual form if absent.',
    ),
  path: z
    .string()
    .max(200)
    .optional()
    .describe(
      'A path below the address, ending in `/*`: `/api/*`. Everything below the address if absent. The path of the address itself always counts.',
    ),
})

/**
 * What a provider is, as data (contract section 8). This is the shape; `daemon/providers` adds the rules that need
 * knowledge of more than one field or of the world: public suffixes, forbidden headers, patterns, endpoints.
 */
export const providerDefinition = z.strictObject({
  schema_version: z.literal(1),
  name: providerName,
  display_name: shownText(80),
  description: shownText(500).optional(),
  category: shownText(40).optional(),
  docs_url: url.optional().describe('Where a person makes a key, or reads how to. https.'),
  last_verified: z.iso
    .date()
    .optional()
    .describe('Day on which what stands here was last compared with its `sources`: `2026-11-22`.'),
  sources: z.array(url).min(1).max(10).optional().describe('Pages that say what stands here. https.'),
  part_of: providerName
    .optional()
    .describe(
      'The provider that logs in to this product and others: both have one `token_url`. An app that was made for one serves the other; on a host of both, this one goes first.',
    ),
  auth_type: z.enum(AUTH_TYPES),
  flow: z.enum(FLOWS).describe('What `login` does unless told otherwise.'),
  hosts: z
    .array(z.string().min(1).max(500))
    .max(400)
    .describe(
      'Where the credential may go: an exact host, or one `*` for a whole label, or two with a label between them; optional port (443 if absent); optional path prefix ending in `/*`, which means that path itself and all below it. Empty only where there are none but servers of the users’ own: `self_hosted`.',
    ),
  base_url: z
    .union([url, z.array(url).min(1).max(10)])
    .optional()
    .describe(
      "A tenant's own URL, with `{tenant}` for a whole label, given at login, or several such addresses of which a tenant has one; the credential is then bound to that host.",
    ),
  tenant_hosts: z
    .array(z.string().min(1).max(300))
    .min(1)
    .max(20)
    .optional()
    .describe(
      'Further hosts of a tenant, with a placeholder of `base_url`, which may be part of a label: `{app}-dsn.example.net`.',
    ),
  self_hosted: z
    .array(selfHosted)
    .min(1)
    .max(10)
    .optional()
    .describe(
      'That people run this service on servers of their own, and which requests there get the credential. The address is given at login; the credential goes nowhere else.',
    ),
  env: z
    .record(
      z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'must be letters, digits and "_", at most 64'),
      z.string().regex(/^[a-z][a-z0-9_]{0,31}$/, 'must be "credential", "base_url" or the name of a field'),
    )
    .optional()
    .describe(
      "Environment variables: found by `onboard`, set to placeholders by `run`. `credential` is the key or token, `base_url` the tenant's address, every other name a field of the credential or the placeholder of `base_url`.",
    ),
  api_key: apiKey.optional(),
  oauth: oauth.optional(),
  signing: signing.optional(),
  placeholder: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._=+:-]{0,199}$/,
      'must be letters, digits, ".", "_", "=", "+", ":" or "-", at most 200',
    )
    .optional()
    .describe("What the child sees in place of the key, where a client checks the key's shape."),
  headers: z.record(headerName, headerValue).optional().describe('Fixed headers, set only where the client sent none.'),
  injections: z.array(injection).min(1).max(10).optional(),
})
export type ProviderDefinition = z.infer<typeof providerDefinition>

/** The same as JSON Schema (2020-12): served at `/schemas/provider.json` and kept in `schemas/provider.json`. */
export function providerJsonSchema(): Readonly<Record<string, unknown>> {
  return {
    title: 'Broker provider definition',
    ...z.toJSONSchema(providerDefinition, { io: 'input' }),
  }
}
