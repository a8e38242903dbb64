/** Contract section 8. */
export const PROVIDER_NAME_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/
/** Wider than a provider's name, so that an account's e-mail address can be one. */
export const CONNECTION_NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/
/** Contract section 4. */
export const IDENTITY_HANDLE_PATTERN = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/

export const DEFAULT_CONNECTION = 'default'

// `constructor` and its like fit the patterns; as keys of an object they would not be found missing.
function isInherited(text: string): boolean {
  return text in Object.prototype
}

export function isProviderName(text: string): boolean {
  return PROVIDER_NAME_PATTERN.test(text) && !isInherited(text)
}

export function isConnectionName(text: string): boolean {
  return CONNECTION_NAME_PATTERN.test(text) && !isInherited(text)
}

export function isIdentityHandle(text: string): boolean {
  return IDENTITY_HANDLE_PATTERN.test(text) && !isInherited(text)
}
