import { BrokerError, nearestWord } from '../../protocol/index.ts'
import type { Provider } from '../providers/index.ts'

/**
 * Returns what a login asks for, each short name as the scopes it stands for: `drive` as `https://www.googleapis.com/auth/drive`.
 * @throws {BrokerError} InvalidRequestError for a name that is nearly one of the short names
 */
export function scopesNamed({ definition }: Provider, asked: readonly string[]): readonly string[] {
  const names = definition.oauth?.scope_names
  if (names === undefined) return asked
  return [...new Set(asked.flatMap((text) => scopesOfName(definition.name, names, text)))]
}

function scopesOfName(
  provider: string,
  names: Readonly<Record<string, readonly string[]>>,
  text: string,
): readonly string[] {
  const scopes = Object.hasOwn(names, text) ? names[text] : undefined
  if (scopes !== undefined) return scopes
  const meant = nearestWord(text, Object.keys(names))
  if (meant === undefined) return [text]
  throw new BrokerError(
    'InvalidRequestError',
    `"${text}" is none of the scopes that ${provider} has a short name for`,
    {
      provider,
      details: [{ path: 'scopes', message: `must be short names or scopes: did you mean ${meant}?` }],
      hint: `Did you mean ${meant}? Short names: ${Object.keys(names).join(', ')}`,
    },
  )
}
