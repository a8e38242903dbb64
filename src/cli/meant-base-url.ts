const PLACEHOLDER = /\{[a-z][a-z0-9_]{0,31}\}/
const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i

/**
 * The address that somebody meant by less than a URL, at a provider where each tenant has one: `myshop`, or
 * `myshop.myshopify.com`, for `https://myshop.myshopify.com`. As it is in every other case: the daemon says what is wrong.
 * @param template `base_url` of the definition
 */
export function meantBaseUrl(text: string, template: string | undefined): string {
  const [placeholder] = (template !== undefined && PLACEHOLDER.exec(template)) || []
  if (template === undefined || placeholder === undefined || text.includes('://')) return text
  if (LABEL.test(text)) return template.replace(placeholder, text.toLowerCase())
  const [authority = ''] = text.split('/', 1)
  return isOfTemplate(authority.toLowerCase(), template, placeholder) ? `https://${text}` : text
}

function isOfTemplate(authority: string, template: string, placeholder: string): boolean {
  const [before = '', after = ''] = (URL.parse(template.replace(placeholder, 'x--x'))?.host ?? '').split('x--x')
  const label = authority.slice(before.length, authority.length - after.length)
  return after !== '' && authority === `${before}${label}${after}` && LABEL.test(label)
}
