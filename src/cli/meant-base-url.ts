import type { ProviderDefinition } from '../schemas/index.ts'

const PLACEHOLDER = /\{[a-z][a-z0-9_]{0,31}\}/
const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i
const FULL_NAME = /^(?!-)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+(?::\d{1,5})?(?:\/[^\s?#]*)?$/i

/**
 * The address that somebody meant by less than a URL, at a provider whose tenants have one each: `myshop`, or
 * `myshop.myshopify.com`, for `https://myshop.myshopify.com`; and `git.acme.example` at one that people run themselves.
 * As it is in every other case: the daemon says what is wrong.
 */
export function meantBaseUrl(
  text: string,
  { base_url: url, self_hosted: places }: Pick<ProviderDefinition, 'base_url' | 'self_hosted'>,
): string {
  if (text.includes('://')) return text
  const templates = [url ?? []].flat().filter((template) => template.split(PLACEHOLDER).length === 2)
  const [only, ...others] = templates
  if (LABEL.test(text)) {
    return only === undefined || others.length > 0 ? text : only.replace(PLACEHOLDER, text.toLowerCase())
  }
  const [authority = ''] = text.split('/', 1)
  const isTenant = templates.some((template) => isOfTemplate(authority.toLowerCase(), template))
  return isTenant || (places !== undefined && FULL_NAME.test(text)) ? `https://${text}` : text
}

function isOfTemplate(authority: string, template: string): boolean {
  const [before = '', after = ''] = (URL.parse(template.replace(PLACEHOLDER, 'x--x'))?.host ?? '').split('x--x')
  const label = authority.slice(before.length, authority.length - after.length)
  return after !== '' && authority === `${before}${label}${after}` && LABEL.test(label)
}
