import type { Route } from './route.ts'

export interface RouteMatch {
  readonly route: Route
  /** Decoded once; still to be parsed by the route's schema. */
  readonly params: Readonly<Record<string, string>>
}

/** Finds the route of a method and path. Undefined where there is none. */
export type RouteMatcher = (method: string, path: string) => RouteMatch | undefined

export function routeMatcher(routes: readonly Route[]): RouteMatcher {
  const compiled = routes.map((route) => ({ route, segments: route.path.split('/') }))
  // A fixed segment wins over a parameter.
  const sorted = compiled.toSorted((a, b) => Number(a.route.path.includes('{')) - Number(b.route.path.includes('{')))
  return (method, path) => {
    const parts = path.split('/')
    for (const { route, segments } of sorted) {
      if (route.method !== method || segments.length !== parts.length) continue
      const params = matchSegments(segments, parts)
      if (params) return { route, params }
    }
    return undefined
  }
}

function matchSegments(segments: readonly string[], parts: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {}
  for (const [index, segment] of segments.entries()) {
    const part = parts[index] ?? ''
    if (segment.startsWith('{')) {
      const value = decode(part)
      if (!value) return undefined
      params[segment.slice(1, -1)] = value
    } else if (segment !== part) return undefined
  }
  return params
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
