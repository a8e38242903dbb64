import { DEFAULT_CONNECTION, isConnectionName, Secret } from '../protocol/index.ts'
import type { FileKey, FileKeys } from './file-keys.ts'

type Profile = ReadonlyMap<string, string>

/**
 * The access keys in the credentials and the config file of the AWS command line: each profile becomes a connection of
 * its name. As there, the credentials file wins. Undefined where a line is none of such a file.
 */
export function awsKeys(credentials: string, config: string): FileKeys | undefined {
  const [ofCredentials, ofConfig] = [parseProfiles(credentials), parseProfiles(config)]
  if (!ofCredentials || !ofConfig) return undefined
  const names = [...new Set([...ofCredentials.keys(), ...ofConfig.keys()])]
  const profiles = names.toSorted(defaultFirst).map((name) => {
    const settings = new Map([...(ofConfig.get(name) ?? []), ...(ofCredentials.get(name) ?? [])])
    return { name, settings, values: accessKeyOf(ofCredentials.get(name)) ?? accessKeyOf(ofConfig.get(name)) }
  })
  const usable = profiles.filter(({ name }) => isConnectionName(name))
  return {
    keys: usable.flatMap(({ name, values }): readonly FileKey[] =>
      values ? [{ owner: { provider: 'aws' }, connection: name, values }] : [],
    ),
    elsewhere: [
      ...profiles.flatMap(({ name, settings, values }) => {
        const how = values ? undefined : howItGetsKeys(settings)
        return how === undefined ? [] : [`profile "${name}" has no key of its own, it ${how}`]
      }),
      ...profiles
        .filter(({ name, values }) => values && !isConnectionName(name))
        .map(({ name }) => `profile "${name}" was left: no connection can be called that`),
      ...usable
        .filter(({ values }) => values?.['session_token'])
        .map(({ name }) => `the key of profile "${name}" is a temporary one: it will have to be imported again`),
    ],
  }
}

function defaultFirst(a: string, b: string): number {
  return Number(b === DEFAULT_CONNECTION) - Number(a === DEFAULT_CONNECTION)
}

/** Both halves of a key are taken from one file. */
function accessKeyOf(profile: Profile = new Map()): FileKey['values'] | undefined {
  const id = profile.get('aws_access_key_id')
  const key = profile.get('aws_secret_access_key')
  const token = profile.get('aws_session_token')
  if (!id || !key) return undefined
  return {
    access_key_id: new Secret(id),
    secret_access_key: new Secret(key),
    ...(token && { session_token: new Secret(token) }),
  }
}

const WAYS: readonly (readonly [setting: RegExp, how: string])[] = [
  [/^sso_/, 'comes by single sign-on'],
  [/^(?:role_arn|source_profile)$/, 'takes a role'],
  [/^credential_process$/, 'asks a program, which is not run'],
  [/^web_identity_token_file$/, 'comes by a web identity'],
]

function howItGetsKeys(settings: Profile): string | undefined {
  return WAYS.find(([setting]) => [...settings.keys()].some((name) => setting.test(name)))?.[1]
}

/** By name. */
function parseProfiles(text: string): ReadonlyMap<string, Profile> | undefined {
  const profiles = new Map<string, Map<string, string>>()
  let settings: Map<string, string> | undefined
  for (const line of text.split(/\r?\n/)) {
    // What is indented belongs to the setting above it.
    if (/^\s|^[#;]|^$/.test(line)) continue
    if (line.startsWith('[')) {
      const header = sectionOf(line)
      if (header === undefined) return undefined
      const name = profileOf(header)
      settings = new Map(profiles.get(name ?? ''))
      if (name !== undefined) profiles.set(name, settings)
      continue
    }
    const at = line.indexOf('=')
    if (at < 1 || settings === undefined) return undefined
    settings.set(
      line.slice(0, at).trim().toLowerCase(),
      line
        .slice(at + 1)
        .split(/\s[#;]/, 1)[0]
        ?.trim() ?? '',
    )
  }
  return profiles
}

function sectionOf(line: string): string | undefined {
  const end = line.indexOf(']')
  return end === -1 || !/^(?:$|[#;])/.test(line.slice(end + 1).trim()) ? undefined : line.slice(1, end).trim()
}

/** `[work]` in the credentials file and `[profile work]` in the other; `[sso-session x]` and its like are no profiles. */
function profileOf(header: string): string | undefined {
  const [, kind, rest = ''] = /^([\w-]+)\s(.*)$/.exec(header) ?? []
  if (kind === undefined) return header
  return kind === 'profile' ? rest.trim().replace(/^(["'])(.*)\1$/, '$2') : undefined
}
