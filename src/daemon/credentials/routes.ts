import { hash } from 'node:crypto'
import type { Actor } from '../../protocol/index.ts'
import type { Connection, Route, Routes } from '../../schemas/index.ts'
import { type ListedConnections, servingOf } from '../connections/index.ts'
import { credentialHosts, isOneFamily, isPartOf, type Provider, type Providers } from '../providers/index.ts'
import { connectionFor, mayInject } from './granted-use.ts'
import { usedOrphans } from './orphans.ts'
import { ownPlacesOf } from './own-server.ts'

/** `connected`: what a credential is there for; `all`: what one could be there for. */
export type RouteScope = 'connected' | 'all'

/** Returns which hosts the proxy may intercept for this actor. Hosts that two providers match equally are left out. */
export async function routesFor(
  { providers, connections }: { readonly providers: Providers; readonly connections: ListedConnections },
  actor: Actor,
  scope: RouteScope,
): Promise<Routes> {
  const candidates = providers.list().filter(({ definition }) => mayInject(actor, definition.name))
  const all = await connections.list(actor)
  const routes = candidates.flatMap((provider) => {
    const { name } = provider.definition
    const own = all.filter((connection) => connection.provider === name)
    return routesOf(provider, { granted: connectionFor(actor, name, undefined), own }, scope)
  })
  const orphans = await usedOrphans({ providers, connections }, actor, all)
  const refused = orphans.flatMap(({ view, hosts }) => hosts.map((pattern) => routeOf(view.provider, pattern, view)))
  const tied = tiedPlaces(candidates)
  const known = new Set(routes.map(placeOf))
  const clear = [...routes, ...refused.filter((route) => !known.has(placeOf(route)))].filter(
    (route) => !tied.has(placeOf(route)),
  )
  return { routes: clear, version: hash('sha256', JSON.stringify(clear)).slice(0, 16) }
}

interface ConnectionsOf {
  /** What the run was started with. */
  readonly granted: string | undefined
  readonly own: readonly Connection[]
}

/**
 * One that needs a login, an approval or a default is refused with that reason: its requests must not pass with a
 * placeholder, or bare.
 */
function routesOf(provider: Provider, { granted, own }: ConnectionsOf, scope: RouteScope): readonly Route[] {
  const { name } = provider.definition
  if (own.length === 0) return scope === 'all' ? provider.hosts.map((pattern) => routeOf(name, pattern)) : []
  const chosen = own.filter(({ connection }) => connection === granted)
  const mine = chosen.length > 0 ? chosen : own
  const serving = new Map(mine.map((one) => [one, routesAt(provider, one)]))
  const places = new Map([...serving.values()].flat().map((route) => [placeOf(route), route]))
  return [...places].map(([place, route]) => {
    const serves = (one: Connection) => serving.get(one)?.some((other) => placeOf(other) === place) === true
    const [only] = chosen
    const used = only ?? (granted === undefined ? servingOf(mine, serves) : undefined)
    return used ? withConnection(route, used) : route
  })
}

function routesAt(provider: Provider, { base_url: baseUrl }: Connection): readonly Route[] {
  const { name } = provider.definition
  const own = ownPlacesOf(provider, baseUrl)
  if (own.length === 0) return credentialHosts(provider.definition, baseUrl).map((pattern) => routeOf(name, pattern))
  return own.map(({ pattern, isPlain }) => ({ ...routeOf(name, pattern), ...(isPlain && { plain: true as const }) }))
}

function routeOf(provider: string, pattern: Provider['hosts'][number], connection?: Connection): Route {
  const route = {
    provider,
    host: pattern.hostPattern,
    port: pattern.port,
    ...(pattern.pathPrefix !== undefined && { path_prefix: pattern.pathPrefix }),
  }
  return connection ? withConnection(route, connection) : route
}

function withConnection(route: Route, { connection, signing }: Connection): Route {
  return { ...route, connection, ...(signing === 'aws_sigv4' && { signs: true as const }) }
}

function tiedPlaces(providers: readonly Provider[]): ReadonlySet<string> {
  const owners = new Map<string, Provider['definition']>()
  const tied = new Set<string>()
  for (const { definition, hosts } of providers) {
    for (const pattern of hosts) {
      const place = placeOf(routeOf(definition.name, pattern))
      const owner = owners.get(place)
      if (owner !== undefined && owner !== definition && !isOneFamily(owner, definition)) tied.add(place)
      if (owner === undefined || !isPartOf(owner, definition)) owners.set(place, definition)
    }
  }
  return tied
}

function placeOf({ host, port, path_prefix = '/' }: Route): string {
  return `${host}:${port}${path_prefix}`
}
