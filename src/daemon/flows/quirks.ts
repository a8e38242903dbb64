import type { QuirkName } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'

/** Which request the parameters are for. */
export type RequestKind = 'authorization' | 'device' | 'token'

/** One way of departing from OAuth, as data. */
interface Quirk {
  /** Token requests carry JSON in place of a form. */
  readonly json?: true
  /** Parameters under another name; with `undefined` they are left out. */
  readonly renamed?: Readonly<Record<string, string | undefined>>
  readonly renamedIn?: readonly RequestKind[]
  /** Values of `grant_type` under another name. */
  readonly grantTypes?: Readonly<Record<string, string>>
  /** The member of a token answer that holds the tokens, where it is there. */
  readonly tokensIn?: string
  /** A numeric member of an answer, with status 200 too, which is 0 unless it is an error. */
  readonly errorIn?: string
  /** `token_type` says whose token it is, not how it is used. */
  readonly anyTokenType?: true
  /** The device authorization is asked for at the token endpoint, by this `response_type`. */
  readonly deviceAtTokenUrl?: string
  /** Asking whether the user has agreed repeats the scopes. */
  readonly scopesInPoll?: true
  /** The member of a token answer that names the API's host or URL. */
  readonly apiUrlIn?: string
}

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

const QUIRK: Readonly<Record<QuirkName, Quirk>> = {
  json_requests: { json: true },
  // Slack: a user's token beside the bot's.
  tokens_in_authed_user: { tokensIn: 'authed_user', anyTokenType: true },
  // Withings.
  tokens_in_body: { tokensIn: 'body', errorIn: 'status' },
  // TikTok Ads.
  tokens_in_data: { tokensIn: 'data', errorIn: 'code' },
  // TikTok.
  client_id_as_client_key: { renamed: { client_id: 'client_key' } },
  // TikTok Ads.
  client_id_as_app_id: { renamed: { client_id: 'app_id', client_secret: 'secret', code: 'auth_code' } },
  // Basecamp.
  grant_type_as_type: {
    renamed: { grant_type: 'type' },
    grantTypes: { authorization_code: 'web_server', refresh_token: 'refresh' },
  },
  // ClickUp.
  no_grant_type: { renamed: { grant_type: undefined } },
  // Twitch.
  device_scopes: { renamed: { scope: 'scopes' }, renamedIn: ['device', 'token'], scopesInPoll: true },
  // Salesforce.
  device_code_at_token_url: {
    deviceAtTokenUrl: 'device_code',
    renamed: { device_code: 'code' },
    renamedIn: ['token'],
    grantTypes: { [DEVICE_GRANT]: 'device' },
  },
  // Zoom: an account's own app.
  account_credentials: { grantTypes: { client_credentials: 'account_credentials' } },
  // Salesforce.
  api_url_in_instance_url: { apiUrlIn: 'instance_url' },
  // Pipedrive, Zoho.
  api_url_in_api_domain: { apiUrlIn: 'api_domain' },
  // Fillout.
  api_url_in_base_url: { apiUrlIn: 'base_url' },
  // Wrike: a name without a scheme.
  api_url_in_host: { apiUrlIn: 'host' },
}

/** The value that a quirk of the provider gives, if any does. */
export function quirk<Name extends keyof Quirk>(definition: ProviderDefinition, name: Name): Quirk[Name] | undefined {
  return quirksOf(definition).find((each) => each[name] !== undefined)?.[name]
}

/** The parameters of a request as the provider wants them. */
export function withQuirks(
  definition: ProviderDefinition,
  kind: RequestKind,
  parameters: URLSearchParams,
): URLSearchParams {
  return quirksOf(definition).reduce((before, each) => withQuirk(each, kind, before), parameters)
}

function withQuirk(each: Quirk, kind: RequestKind, parameters: URLSearchParams): URLSearchParams {
  const { renamed = {}, renamedIn, grantTypes = {} } = each
  const renames = renamedIn === undefined || renamedIn.includes(kind)
  const entries = [...parameters].flatMap(([name, value]): readonly (readonly [string, string])[] => {
    const sent = name === 'grant_type' ? (grantTypes[value] ?? value) : value
    const newName = renames && Object.hasOwn(renamed, name) ? renamed[name] : name
    return newName === undefined ? [] : [[newName, sent]]
  })
  return new URLSearchParams(entries.map(([name, value]) => [name, value]))
}

function quirksOf({ oauth }: ProviderDefinition): readonly Quirk[] {
  return (oauth?.quirks ?? []).map((name) => QUIRK[name])
}
