import type { Field, ProviderList, ProviderSummary } from '../schemas/index.ts'
import { brandOf } from './brand.ts'

/** A provider whose credential can be found in the environment or in a file of another program. */
export interface KeyProvider {
  readonly name: string
  /** The preferred one of each part first. */
  readonly variables: readonly KeyVariable[]
  readonly fields: readonly Field[]
  /** Whole hosts that no provider before it takes keys at; none of a custom one, which may name hosts of its own beside. */
  readonly hosts: ReadonlySet<string>
  /** Where registries hand out tokens for it: the names in its hosts, with any path; as exclusive as `hosts`. */
  readonly registries: ReadonlySet<string>
  /** Whose its hosts are. */
  readonly brands: ReadonlySet<string>
  /** Of its tenants, with the placeholder: `https://{tenant}.example.com`. */
  readonly baseUrl?: string
  readonly needsBaseUrl: boolean
  /** Where a login takes the address of a server of the user's own: the paths below it that get the credential. */
  readonly selfHosted?: readonly string[]
  /** What `broker run` puts in the place of its key. */
  readonly placeholder: string
}

/** `part`: a field of the credential, `base_url`, or what stands for the tenant in it. */
interface KeyVariable {
  readonly name: string
  readonly part: string
}

/** Gives what several claim to a bundled provider, so that a custom one cannot take it over. */
export function keyProviders({ bundled, custom }: ProviderList): readonly KeyProvider[] {
  const taken = new Set<string>()
  return [...bundled, ...custom].flatMap((summary) => {
    const provider = keyProvider(summary, taken)
    if (!provider) return []
    const { variables, hosts, registries } = provider
    for (const name of [...variables.map(({ name }) => name), ...hosts, ...registries]) taken.add(name)
    return [provider]
  })
}

function keyProvider(
  { name, hosts, source, keys }: ProviderSummary,
  taken: ReadonlySet<string>,
): KeyProvider | undefined {
  if (!keys) return undefined
  const { env, fields, base_url: baseUrl, needs_base_url: needsBaseUrl, self_hosted: selfHosted, placeholder } = keys
  const key = keyField(fields)
  if (key === undefined) return undefined
  const variables = Object.entries(env)
    .filter(([variable]) => !taken.has(variable))
    .map(([variable, part]) => ({ name: variable, part: part === 'credential' ? key : part }))
  // A path may end in an asterisk.
  const own = source === 'custom' ? [] : hosts.filter((host) => !/[*:]/.test(hostname(host)))
  return {
    name,
    variables,
    fields,
    hosts: new Set(own.filter((host) => !host.includes('/') && !taken.has(host))),
    registries: new Set(own.map(hostname).filter((host) => !taken.has(host))),
    brands: new Set(hosts.map((host) => brandOf(hostname(host).replace(/:\d+$/, '')))),
    ...(baseUrl !== undefined && { baseUrl }),
    needsBaseUrl,
    ...(selfHosted && { selfHosted }),
    placeholder,
  }
}

/** The field that a password without a name is for. */
export function keyField(fields: readonly Field[]): string | undefined {
  return (fields.find(({ name }) => name === 'api_key') ?? fields.find(({ secret, required }) => secret && required))
    ?.name
}

function hostname(host: string): string {
  return host.split('/', 1)[0] ?? ''
}
