import { type Authority, authorityOfUrl, type HostPattern, patternOf } from '../../network/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'

/** What stands for a label of a tenant's own host. */
export const PLACEHOLDER = /\{[a-z][a-z0-9_]{0,31}\}/g

/** The addresses that a definition's tenants have, as it writes them; of one without tenants, none or its own. */
export function templatesOf({ base_url: text }: Pick<ProviderDefinition, 'base_url'>): readonly string[] {
  return text === undefined ? [] : typeof text === 'string' ? [text] : text
}

export function isTemplate(text: string): boolean {
  return text.includes('{')
}

/** The names of its placeholders, in their order. */
export function placeholdersIn(text: string): readonly string[] {
  return (text.match(PLACEHOLDER) ?? []).map((one) => one.slice(1, -1))
}

/** The host that a template stands for, each placeholder as `*`. */
export function templatePattern(text: string): HostPattern {
  const { host, port } = hostOfUrl(text.replace(PLACEHOLDER, 'broker-placeholder'))
  return patternOf(host.replaceAll('broker-placeholder', '*'), port)
}

/** Host and port of a URL. */
export function hostOfUrl(text: string): Authority {
  return authorityOfUrl(new URL(text))
}
