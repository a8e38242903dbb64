import { isIP } from 'node:net'
import { type Authority, hostMatcher, isCommonLoopback } from '../network/index.ts'
import { coversPath } from '../protocol/index.ts'
import type { Route, Routes } from '../schemas/index.ts'

/**
 * Which hosts are intercepted and which paths on them are asked about. A host that is connected later follows where the
 * run's certificate authority covers it; a route that disappears stays, so that its requests are refused by the daemon's
 * answer and never sent on bare.
 */
export class RouteTable {
  readonly #covers: (hostPattern: string) => boolean
  readonly #exact = new Map<string, Route[]>()
  readonly #wildcards: { readonly means: (host: string) => boolean; readonly route: Route }[] = []
  readonly #known = new Set<string>()
  /** What is spoken to in the clear, on this machine: no certificate is needed for it. */
  readonly #plain = new Map<string, Route[]>()
  /** What was found before: of a service with many hosts there are many patterns. */
  readonly #found = new Map<string, readonly Route[]>()
  readonly #hostMatchers = new Map<string, (host: string) => boolean>()
  /** What is connected now, and no certificate of this run can be for. */
  #missed: readonly { readonly means: (host: string) => boolean; readonly port: number }[] = []

  /** @param covers whether the run's authority can have a certificate for each host of a pattern */
  constructor({ routes }: Routes, covers: (hostPattern: string) => boolean) {
    this.#covers = covers
    for (const route of routes) this.#learn(route)
  }

  /** Host patterns in lower case, each once. */
  get hosts(): readonly string[] {
    return [...this.#hostMatchers.keys()]
  }

  /** Takes in what was connected since; tells of the hosts that this run cannot intercept. */
  learn({ routes }: Routes): { readonly missedHosts: readonly string[] } {
    const missed = routes.filter(({ host, plain }) => !plain && isIP(host) === 0 && !this.#covers(host))
    for (const route of routes) if (!missed.includes(route)) this.#learn(route)
    this.#missed = missed.map(({ host, port }) => ({ means: hostMatcher(host), port }))
    return { missedHosts: [...new Set(missed.map(({ host }) => host))] }
  }

  /** Whether a credential is connected for this host and port that only a new run can inject. */
  needsNewRun({ host, port }: Authority): boolean {
    return this.#missed.some((missed) => missed.port === port && missed.means(host))
  }

  /** The routes of this host and port, in no order; empty where it is not intercepted. */
  match({ host, port }: Authority): readonly Route[] {
    const authority = `${host}:${port}`
    const known = this.#found.get(authority)
    if (known !== undefined) return known
    const wild = this.#wildcards.filter(({ means, route }) => route.port === port && means(host))
    const found = [...(this.#exact.get(authority) ?? NONE), ...wild.map(({ route }) => route)]
    if (this.#found.size >= MOST_FOUND) this.#found.clear()
    this.#found.set(authority, found)
    return found
  }

  /** Whether any route has this host, whatever its port. */
  knowsHost(host: string): boolean {
    return this.#hostMatchers.values().some((means) => means(host))
  }

  /** The routes of this host and port whose requests come in the clear. */
  matchPlain({ host, port }: Authority): readonly Route[] {
    return this.#plain.get(`${host}:${port}`) ?? NONE
  }

  /** Whether anything of this host is spoken to in the clear, whatever its port. */
  speaksPlain(host: string): boolean {
    return [...this.#plain.values()].some(([route]) => route?.host === host)
  }

  #learn(route: Route): void {
    if (route.plain) this.#addPlain(route)
    else this.#add(route)
  }

  #addPlain(route: Route): void {
    const authority = `${route.host}:${route.port}`
    const there = this.#plain.get(authority) ?? []
    const isKnown = there.some((one) => one.provider === route.provider && one.path_prefix === route.path_prefix)
    if (!isKnown && isCommonLoopback(route.host)) this.#plain.set(authority, [...there, route])
  }

  #add(route: Route): void {
    const { host } = route
    const key = `${host}|${route.port}|${route.path_prefix ?? ''}|${route.provider}|${route.signs ?? ''}`
    // No certificate is ever made for an address: it has no name that could be compared.
    if (this.#known.has(key) || isIP(host) !== 0) return
    this.#known.add(key)
    this.#found.clear()
    this.#hostMatchers.set(host, hostMatcher(host))
    if (host.includes('*')) {
      this.#wildcards.push({ means: hostMatcher(host), route })
      return
    }
    const authority = `${host}:${route.port}`
    this.#exact.set(authority, [...(this.#exact.get(authority) ?? []), route])
  }
}

/** Of no other host is anything ever spoken to in the clear. */
const MOST_FOUND = 1_000
const NONE: readonly Route[] = []

/** The routes among `routes` that cover `path` (without its query). */
export function routesForPath(routes: readonly Route[], path: string): readonly Route[] {
  return routes.filter(({ path_prefix }) => path_prefix === undefined || coversPath(path_prefix, path))
}
