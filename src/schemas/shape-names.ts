import type * as z from 'zod'
import * as account from './account.ts'
import * as audit from './audit.ts'
import * as authSession from './auth-session.ts'
import * as catalogue from './catalogue.ts'
import * as connection from './connection.ts'
import * as explanation from './explanation.ts'
import * as provider from './provider.ts'
import * as resolution from './resolution.ts'
import * as status from './status.ts'

/** Names that a generated client should have otherwise than the schema has here. */
const OTHERWISE: ReadonlyMap<string, string> = new Map([
  ['connections', 'ConnectionList'],
  ['catalogue', 'CatalogueState'],
  ['field', 'LoginField'],
  ['identities', 'IdentityList'],
  ['me', 'Me'],
  ['ok', 'Done'],
  ['routes', 'RouteList'],
])

/** The name of each shape in the OpenAPI document; queries and parameters have none, as they are no bodies. */
export const shapeNames: ReadonlyMap<z.core.$ZodType, string> = new Map(
  [account, audit, authSession, catalogue, connection, explanation, provider, resolution, status].flatMap((shapes) =>
    Object.entries(shapes).flatMap(([name, shape]) =>
      typeof shape === 'object' && '_zod' in shape ? [[shape, OTHERWISE.get(name) ?? capital(name)] as const] : [],
    ),
  ),
)

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
