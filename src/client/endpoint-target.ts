/** What of a request stands in its target: parameters of the path, and of the query; a parameter of the query that is undefined is left out. */
export interface TargetParts {
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
}

/** Gives method and target of an endpoint, by its key in the contract: `GET /api/providers/{provider}`. */
export function targetOf(key: string, { params = {}, query = {} }: TargetParts): { method: string; path: string } {
  const [method = '', template = ''] = key.split(' ')
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return { method, path: search.size === 0 ? path : `${path}?${search}` }
}
