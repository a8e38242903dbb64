import { DEFAULT_CONNECTION, isConnectionName, Secret } from '../protocol/index.ts'
import { type FileKey, type FileKeys, noConnectionCalled } from './file-keys.ts'
import { Broken } from './structured-text.ts'

type Profile = ReadonlyMap<string, string>

/**
 * The access keys in the credentials and the config file of the AWS command line: each profile becomes a connection of
 * its name. As there, the credentials file wins.
 */
export function awsKeys(credentials: string, config: string): FileKeys | Broken {
  const ofCredentials = parseProfiles(credentials)
  const ofConfig = parseProfiles(config)
  if (ofCredentials instanceof Broken) return ofCredentials
  if (ofConfig instanceof Broken) return new Broken(ofConfig.line, 1)
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
        const why = values ? undefined : whyNoKeys(settings)
        return why === undefined ? [] : [`profile "${name}" ${why}`]
      }),
      ...profiles
        .filter(({ name, values }) => values && !isConnectionName(name))
        .map(({ name }) => `profile "${name}" ${noConnectionCalled(name, 'aws')}`),
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

function whyNoKeys(settings: Profile): string | undefined {
  const how = WAYS.find(([setting]) => [...settings.keys()].some((name) => setting.test(name)))?.[1]
  if (how !== undefined) return `has no key of its own, it ${how}`
  const [given, missing] = HALVES.toSorted((one) => (settings.get(one) ? -1 : 1))
  return settings.get(given ?? '') ? `has half a key: ${missing} is not there, or in the other file` : undefined
}

const HALVES: readonly string[] = ['aws_access_key_id', 'aws_secret_access_key']

/** By name. */
function parseProfiles(text: string): ReadonlyMap<string, Profile> | Broken {
  const profiles = new Map<string, Map<string, string>>()
  let settings: Map<string, string> | undefined
  for (const [row, line] of text.split(/\r?\n/).entries()) {
    // What is indented belongs to the setting above it.
    if (/^\s|^[#;]|^$/.test(line)) continue
    if (line.startsWith('[')) {
      const header = sectionOf(line)
      if (header === undefined) return new Broken(row + 1)
      const name = profileOf(header)
      settings = new Map(profiles.get(name ?? ''))
      if (name !== undefined) profiles.set(name, settings)
      continue
    }
    const at = line.indexOf('=')
    if (at < 1 || settings === undefined) return new Broken(row + 1)
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

/** `[my work]` in the credentials file and `[profile my work]` in the other; `[sso-session x]` and its like are no profiles. */
function profileOf(header: string): string | undefined {
  const [, kind = '', rest = ''] = /^(profile|sso-session|services)\s(.*)$/.exec(header) ?? []
  if (kind === '') return bare(header)
  return kind === 'profile' ? bare(rest.trim()) : undefined
}

function bare(name: string): string {
  return name.replace(/^(["'])(.*)\1$/, '$2')
}
