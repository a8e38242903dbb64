import { credentialOf, type OAuthServer, type Party, type Tokens } from '../flows/index.ts'
import { answeredBaseUrl } from '../providers/index.ts'
import { asClient, type ClientRooms, type LoginClient } from './login-client.ts'
import type { BrowserStep, DeviceStep, Granted, LoginRequest } from './step.ts'

/** One login at the server it will be at. */
export interface OAuthPlace {
  readonly rooms: ClientRooms
  readonly request: LoginRequest
  readonly server: OAuthServer
}

export interface OAuthLogin extends OAuthPlace {
  readonly client: LoginClient
}

/** Sends a browser to the provider. */
export async function startCode(login: OAuthLogin): Promise<BrowserStep> {
  const { flows, redirectUri } = login.rooms
  const started = await flows.authorize({ ...partyOf(login), redirectUri, scopes: scopesOf(login) })
  return {
    kind: 'browser',
    started,
    comeBack: (query) => asOurselves(login, async () => grantedOf(login, await flows.exchange(started, query))),
  }
}

/** Has the provider make a code. */
export async function startDevice(login: OAuthLogin): Promise<DeviceStep> {
  const { flows } = login.rooms
  const scopes = scopesOf(login)
  const started = await asOurselves(login, () => flows.startDevice({ ...partyOf(login), scopes }))
  return {
    kind: 'device',
    started,
    poll: (interval) =>
      asOurselves(login, async () => {
        const answer = await flows.pollDevice(started, interval)
        return answer.kind === 'granted' ? grantedOf(login, answer.tokens) : answer
      }),
  }
}

/** Those asked for take the place of the definition's; where neither names any, those that the resource asks for. */
export function scopesOf({ request, server }: OAuthPlace): readonly string[] {
  const wanted = request.scopes ?? request.provider.definition.oauth?.scopes ?? []
  return wanted.length > 0 ? wanted : (server.resourceScopes ?? [])
}

function asOurselves<Result>({ rooms, request, client }: OAuthLogin, work: () => Promise<Result>): Promise<Result> {
  return asClient(rooms, request, client, work)
}

function partyOf({ request, server, client }: OAuthLogin): Party {
  return { definition: request.provider.definition, server, client: client.client }
}

/** @throws BrokerError where the answer says that the API is where it cannot be */
function grantedOf(login: OAuthLogin, tokens: Tokens): Granted {
  const { rooms, request, server, client } = login
  const { accessToken, refreshToken, expiresAt, account, scopes, apiUrl } = tokens
  const token = { accessToken, ...(refreshToken && { refreshToken }) }
  const baseUrl = answeredBaseUrl(request.provider.definition, apiUrl) ?? request.baseUrl
  return {
    kind: 'granted',
    connection: {
      credential: credentialOf({ ...token, client: sealedClient(client), server }),
      scopes,
      ...(expiresAt !== undefined && { expiresAt }),
      ...(account && { account }),
      ...(baseUrl !== undefined && { baseUrl }),
      ...(client.kept && { client: client.kept }),
    },
    discard: async () => {
      await rooms.flows.revoke({ ...partyOf(login), ...token })
    },
  }
}

/** A user's own app is stored once for all its connections. */
function sealedClient({ client, origin }: LoginClient): LoginClient['client'] {
  return origin === 'registration' ? client : { id: client.id, auth: client.auth }
}
