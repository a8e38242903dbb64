import { DEFAULT_CONNECTION, isConnectionName, Secret } from '../../protocol/index.ts'
import { type FileKey, type FileKeys, noConnectionCalled } from '../file-keys.ts'
import { Broken, isTree, parseToml, type Tree, textIn } from '../structured-text.ts'

interface ProfileKey {
  readonly profile: string
  readonly mode: 'test' | 'live'
  readonly key: string
  /** As it is written: a date. */
  readonly ends: string | undefined
}

/**
 * The keys in the Stripe CLI's config.toml: of each profile the one for tests as a connection of its name, and the live one
 * as `live` or `<profile>-live`, where the file has it.
 */
export function stripeKeys(text: string, now = new Date()): FileKeys | Broken {
  const config = parseToml(text)
  if (config instanceof Broken) return config
  const found = Object.entries(config).flatMap(([name, settings]) => (isTree(settings) ? keysOf(name, settings) : []))
  return {
    keys: found
      .filter((one) => whyNot(one, now) === undefined)
      .map(
        (one): FileKey => ({
          owner: { provider: 'stripe' },
          connection: connectionOf(one),
          values: { api_key: new Secret(one.key) },
        }),
      ),
    elsewhere: found.flatMap((one) => {
      const why = whyNot(one, now) ?? (one.ends && `ends on ${one.ends}: it will have to be imported again`)
      return why ? [`the ${one.mode} key of profile "${one.profile}" ${why}`] : []
    }),
  }
}

function keysOf(profile: string, settings: Tree): readonly ProfileKey[] {
  return (['test', 'live'] as const).flatMap((mode) => {
    const key = textIn(settings, `${mode}_mode_api_key`)
    const ends = textIn(settings, `${mode}_mode_key_expires_at`)
    return key === undefined ? [] : [{ profile, mode, key, ends }]
  })
}

function connectionOf({ profile, mode }: ProfileKey): string {
  if (mode === 'test') return profile
  return profile === DEFAULT_CONNECTION ? mode : `${profile}-${mode}`
}

function whyNot(one: ProfileKey, now: Date): string | undefined {
  const { key, ends } = one
  if (key.includes('*')) return 'is kept in the keyring of the operating system; `broker login stripe` stores one'
  if (ends !== undefined && Date.parse(ends) < now.getTime()) return `ended on ${ends}: \`stripe login\` renews it`
  return isConnectionName(connectionOf(one)) ? undefined : noConnectionCalled(connectionOf(one), 'stripe')
}
