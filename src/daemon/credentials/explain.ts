import { formatPattern, HTTPS_PORT } from '../../network/index.ts'
import { type Actor, BrokerError } from '../../protocol/index.ts'
import type { Connection, Explanation } from '../../schemas/index.ts'
import type { Audit } from '../audit/index.ts'
import { type ListedConnections, noDefault, servingOf } from '../connections/index.ts'
import { type Provider, type Providers, placeNamesFor, type Target } from '../providers/index.ts'
import { connectionFor, mayInject } from './granted-use.ts'
import { withLastTrouble } from './last-trouble.ts'
import { type Found, isForHost, matchFor } from './match-request.ts'
import { isOrphanFor, usedOrphans } from './orphans.ts'
import { type OwnMatch, ownMatch, ownPlacesOf } from './own-server.ts'

/** A request, as far as it decides what becomes of it. */
export interface ExplainedRequest extends Target {
  readonly isPlain: boolean
}

interface Credentials {
  readonly providers: Providers
  readonly connections: ListedConnections
  readonly now?: () => number
}

type Step = Explanation['steps'][number]

/** Returns what a proxy of this actor would do with the request, found by what decides it, and the command that mends it. */
export async function explainRequest(
  credentials: Credentials & { readonly audit: Audit },
  actor: Actor,
  request: ExplainedRequest,
): Promise<Explanation> {
  const explained = await explainByRules(credentials, actor, request)
  return withLastTrouble(credentials.audit, actor, explained, request.host)
}

async function explainByRules(credentials: Credentials, actor: Actor, request: ExplainedRequest): Promise<Explanation> {
  const all = await credentials.connections.list(actor)
  const asked = request.isPlain ? inTheClear(credentials, actor, request) : request
  const explained = explainAmong(credentials, actor, asked, { all, passedOver: [] })
  const own = explained.verdict === 'tunnel' ? explainOwn(credentials, actor, request, all) : undefined
  if (own ?? explained.provider !== undefined) return own ?? explained
  const orphans = await usedOrphans(credentials, actor, all)
  const orphan = orphans.find((one) => isOrphanFor(one, asked))
  return orphan ? withoutDefinition(orphan.view) : explained
}

/** At a server of the user's own; undefined where no connection is for it. */
function explainOwn(
  { providers, now = Date.now }: Credentials,
  actor: Actor,
  request: ExplainedRequest,
  all: readonly Connection[],
): Explanation | undefined {
  const onAnyPath = all.some((one) => isOnHost(providers, one, request))
  if (!onAnyPath) return undefined
  try {
    const match = ownMatch(providers, actor, all, request)
    if (!match) return besideOwnPlaces(request)
    const { provider, connection, place } = match
    if (place.isPlain && !request.isPlain) return overTls(match)
    const before = ownStep(match)
    const isPlain = request.isPlain && !place.isPlain
    const found = { kind: 'one', provider, pattern: place.like } as const
    const explained = explainMatch({ actor, now: now() }, { ...request, isPlain }, { found, before }, [connection])
    return place.isPlain ? { ...explained, steps: [...explained.steps, PAST_THE_PROXY] } : explained
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return { verdict: 'refuse', steps: [step('connection', 'several', `${error.message}.`)] }
  }
}

const PAST_THE_PROXY: Step = {
  step: 'clients',
  result: 'not all',
  reason: 'Programs in Go, Java and Ruby ask no proxy about this machine: what they send there carries no credential.',
}

function isOnHost(providers: Credentials['providers'], one: Connection, { host, port }: ExplainedRequest): boolean {
  const provider = providers.find(one.provider)
  const places = provider ? ownPlacesOf(provider, one.base_url) : []
  return places.some(({ pattern }) => pattern.hostPattern === host && pattern.port === port)
}

function besideOwnPlaces({ host }: ExplainedRequest): Explanation {
  const reason = `A connection has an address on ${host}, but its credential goes to other paths there.`
  return { verdict: 'tunnel', steps: [step('provider', 'none', reason)] }
}

function overTls(match: OwnMatch): Explanation {
  const reason = `The address of its connection is ${match.connection.base_url}: requests over TLS pass as they are.`
  return { verdict: 'tunnel', steps: [ownStep(match), step('transport', 'tls', reason)] }
}

function ownStep({ provider, connection }: OwnMatch): Step {
  const { name } = provider.definition
  const reason = `It is at ${connection.base_url}, the server of its connection "${connection.connection}".`
  return step('provider', name, reason)
}

/** In the clear, every request to a host that is connected is refused, whatever its port. */
function inTheClear(credentials: Credentials, actor: Actor, request: ExplainedRequest): ExplainedRequest {
  return 'verdict' in matched(credentials, actor, request, []) ? { ...request, port: HTTPS_PORT } : request
}

function withoutDefinition({ provider, connection, attention }: Connection): Explanation {
  const reason = attention?.reason ?? 'Its definition is gone.'
  const steps = [
    step('provider', provider, 'The credential of its connection was for this host.'),
    step('definition', attention?.kind ?? 'none', reason),
  ]
  return { verdict: 'refuse', provider, connection, steps, ...(attention && { fix: attention.fix }) }
}

interface Considered {
  readonly all: readonly Connection[]
  /** Definitions of longer paths to which nobody is connected. */
  readonly passedOver: readonly Found[]
}

function explainAmong(
  credentials: Credentials,
  actor: Actor,
  request: ExplainedRequest,
  seen: Considered,
): Explanation {
  const found = matched(credentials, actor, request, seen.passedOver)
  if ('verdict' in found) return found
  const { name } = found.provider.definition
  const chosen = connectionFor(actor, name, undefined)
  const own = seen.all.filter(({ provider }) => provider === name)
  const mine = chosen === undefined ? own : own.filter(({ connection }) => connection === chosen)
  const isHere = mine.some(({ base_url }) => isForHost(found.provider, base_url, request))
  const others = seen.all.filter(({ provider }) => provider !== name)
  if (mine.length > 0 && !isHere && !isRouted(credentials, actor, request, others)) return elsewhere(found, mine)
  if (own.length > 0 || chosen !== undefined)
    return explainMatch(
      { actor, now: (credentials.now ?? Date.now)() },
      request,
      { found, before: matchStep(found) },
      own,
    )
  const next = matched(credentials, actor, request, [...seen.passedOver, found])
  const left = isRouted(credentials, actor, request, seen.all) ? notStoodInFor(found) : unconnected(found)
  if ('verdict' in next) return left
  const instead = explainAmong(credentials, actor, request, { ...seen, passedOver: [...seen.passedOver, found] })
  return seen.all.some(({ provider }) => provider === instead.provider) ? instead : left
}

function matched(
  { providers }: Credentials,
  actor: Actor,
  { host, port, path }: ExplainedRequest,
  passedOver: readonly Found[],
): Found | Explanation {
  const match = matchFor(providers, actor, { host, port, ...(path !== undefined && { path }) }, passedOver)
  if (match.kind === 'one') return match
  const isTie = match.kind === 'tie'
  const steps = [step('provider', isTie ? 'several' : 'none', `${match.refusal.message}.`)]
  // Where two match equally nothing is intercepted either.
  return { verdict: 'tunnel', steps, ...(isTie && { fix: 'broker provider remove <provider>' }) }
}

/** Returns whether something else is connected there, so that a proxy takes the requests of the host in hand. */
function isRouted(
  { providers }: Credentials,
  actor: Actor,
  { host, port, path }: ExplainedRequest,
  all: readonly Connection[],
): boolean {
  const isConnected = (name: string) => mayInject(actor, name) && all.some(({ provider }) => provider === name)
  const target = { host, port, ...(path !== undefined && { path }) }
  return providers.match(target, ({ definition }) => isConnected(definition.name)).kind !== 'none'
}

function notStoodInFor(found: Found): Explanation {
  const { name } = found.provider.definition
  const reason = `Nobody has logged in to ${name}, and the credential of another provider of this host does not go there.`
  return {
    verdict: 'refuse',
    provider: name,
    steps: [matchStep(found), step('connection', 'none', reason)],
    fix: `broker login ${name}`,
  }
}

/** No proxy takes in hand what no connection is for. */
function elsewhere(found: Found, own: readonly Connection[]): Explanation {
  const { name } = found.provider.definition
  const where = [...new Set(own.map(({ base_url }) => base_url ?? 'the public service'))].join(', ')
  const reason = `The credential of ${name} is for ${where}: requests to this host pass as they are.`
  return {
    verdict: 'tunnel',
    provider: name,
    steps: [matchStep(found), step('destination', 'another host', reason)],
    fix: `broker login ${name} --connection <name>`,
  }
}

function unconnected(found: Found): Explanation {
  const { name } = found.provider.definition
  return {
    verdict: 'tunnel',
    provider: name,
    steps: [
      matchStep(found),
      step('connection', 'none', `Nobody has logged in to ${name}: requests pass as they are.`),
    ],
    fix: `broker login ${name}`,
  }
}

/** Returns whether its token is used on: what its host refused is, where it cannot be refreshed, as another request may fare better. */
function stillServes({ attention, expires_at, flow }: Connection, now: number): boolean {
  if (attention?.kind !== 'refresh_failing' || flow === 'api_key') return false
  return expires_at === undefined || Date.parse(expires_at) > now
}

function explainMatch(
  { actor, now }: { readonly actor: Actor; readonly now: number },
  request: ExplainedRequest,
  { found, before: first }: { readonly found: Found; readonly before: Step },
  own: readonly Connection[],
): Explanation {
  const { provider, pattern } = found
  const { name } = provider.definition
  const chosen = connectionFor(actor, name, undefined)
  const used = usedFor(provider, chosen, own, request)
  const before = [first]
  if (!used) return withoutConnection(name, { own, chosen, before })
  const steps = [...before, step('connection', used.connection, whyUsed(used, chosen))]
  const about = { provider: name, connection: used.connection }
  if (used.attention && !stillServes(used, now)) {
    const { kind, reason, fix } = used.attention
    return { verdict: 'refuse', ...about, steps: [...steps, step('state', kind, reason)], fix }
  }
  const state = used.attention?.reason ?? 'It can be used.'
  const known = [...steps, step('state', used.status, state)]
  if (!isForHost(provider, used.base_url, request)) {
    const reason = `Its credential is for ${used.base_url ?? 'another host'}.`
    return { verdict: 'refuse', ...about, steps: [...known, step('destination', 'another host', reason)] }
  }
  if (request.isPlain) {
    const reason = 'A credential is never sent over plain http.'
    return { verdict: 'refuse', ...about, steps: [...known, step('transport', 'plain http', reason)] }
  }
  const places = placesOf(provider, used, pattern)
  const reason = `The credential goes into ${places.join(', ')}; what the request has there is removed.`
  return { verdict: 'inject', ...about, places, steps: [...known, step('injection', 'inject', reason)] }
}

/** Returns what its requests use: the default, where another is not the one for this host. */
function usedFor(
  provider: Provider,
  chosen: string | undefined,
  own: readonly Connection[],
  request: ExplainedRequest,
): Connection | undefined {
  if (chosen !== undefined) return own.find(({ connection }) => connection === chosen)
  const serving = servingOf(own, ({ base_url }) => isForHost(provider, base_url, request))
  return serving ?? own.find(({ is_default }) => is_default)
}

function whyUsed({ is_default }: Connection, chosen: string | undefined): string {
  if (chosen !== undefined) return 'The run was started with it.'
  return is_default ? 'It is the default.' : 'It is the first that is for this host.'
}

function withoutConnection(
  provider: string,
  { own, chosen, before }: { own: readonly Connection[]; chosen: string | undefined; before: readonly Step[] },
): Explanation {
  const { reason, fix } =
    chosen === undefined
      ? noDefault(provider, own)
      : {
          reason: `The run was started with "${chosen}", which is gone.`,
          fix: `broker login ${provider} --connection ${chosen}`,
        }
  return { verdict: 'refuse', provider, steps: [...before, step('connection', 'none', reason)], fix }
}

function placesOf({ definition }: Provider, used: Connection, pattern: Found['pattern']): string[] {
  if (used.signing === 'aws_sigv4') return ['header Authorization (a signature; the key is not sent)']
  const authType = used.signing === undefined ? used.auth_type : 'oauth2'
  const places = placeNamesFor(definition, authType, pattern)
  return places.length > 0 ? [...places] : ['header Authorization']
}

function matchStep({ provider, pattern }: Found): Step {
  const { name } = provider.definition
  return step('provider', name, `${formatPattern(pattern)} is one of the hosts of its ${provider.source} definition.`)
}

function step(name: string, result: string, reason: string): Step {
  return { step: name, result, reason }
}
