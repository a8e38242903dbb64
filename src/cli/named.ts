import { BrokerError, isConnectionName, isIdentityHandle, isProviderName } from '../protocol/index.ts'

/** @throws BrokerError ProviderNotFoundError: no provider can have such a name. */
export function providerNamed(text: string): string {
  if (isProviderName(text)) return text
  throw new BrokerError('ProviderNotFoundError', 'There is no provider of that name: no provider can be called so', {
    hint: [
      ...(WORDS.test(text) ? [`Did you mean ${asNames(text).join(' or ')}?`] : []),
      'See `broker provider list`.',
    ].join(' '),
  })
}

/** A name as people write it. Anything else may be a secret in the wrong place: it is not repeated. */
const WORDS = /^[A-Za-z]{2,20}(?:[ ._-][A-Za-z]{2,20}){0,3}$/

function asNames(text: string): readonly string[] {
  const lower = text.toLowerCase()
  return lower.includes(' ') ? [lower.replaceAll(' ', ''), lower.replaceAll(' ', '-')] : [lower]
}

/** @throws BrokerError InvalidRequestError */
export function connectionNamed(text: string): string {
  if (isConnectionName(text)) return text
  throw new BrokerError(
    'InvalidRequestError',
    'A connection is named by up to 64 letters, digits, ".", "_", "-", "@" or "+", the first a letter or digit',
  )
}

/** @throws BrokerError InvalidRequestError */
export function agentNamed(text: string): string {
  if (isIdentityHandle(text)) return text
  throw new BrokerError(
    'InvalidRequestError',
    'An agent is named by up to 64 lower-case letters, digits and "-", the first and last a letter or digit',
  )
}
