import * as z from 'zod'
import { CHANNEL_PROTOCOL } from '../protocol/index.ts'
import {
  accountList,
  browserSessions,
  changePassword,
  dashboardLink,
  me,
  passwordReset,
  resetPassword,
  signedIn,
  signIn,
  signUp,
} from './account.ts'
import {
  accepted,
  auditCounts,
  auditCountsQuery,
  auditExportQuery,
  auditPage,
  auditQuery,
  auditVerifyQuery,
  shippedBatch,
} from './audit.ts'
import {
  authSession,
  checkAuthSession,
  checkedAuthSession,
  resumeAuthSession,
  startAuthSession,
} from './auth-session.ts'
import { catalogue, catalogueChange, resetCatalogue, updateCatalogue } from './catalogue.ts'
import { connectionName, identityHandle, providerName } from './common.ts'
import {
  approval,
  approve,
  approved,
  connectionDetail,
  connections,
  defaultSet,
  loggedOut,
  restored,
  revoked,
} from './connection.ts'
import type { Endpoint } from './endpoint.ts'
import { explainQuery, explanation } from './explanation.ts'
import {
  describedProvider,
  providerList,
  registeredProvider,
  registeredProviders,
  registerProvider,
  registerProviders,
  removedProvider,
} from './provider.ts'
import { endRun, resolution, resolveRequest, routes, run, startRun } from './resolution.ts'
import {
  health,
  identities,
  identity,
  labelIdentity,
  ok,
  readiness,
  registerIdentity,
  registration,
  rekeyed,
  rekeyVault,
  rotated,
  unlockVault,
  vaultState,
  whoami,
} from './status.ts'

/** Room for a catalogue of definitions. */
const CATALOGUE_BYTES = 8 * 1024 * 1024
/** Room for a batch of audit events. */
const BATCH_BYTES = 4 * 1024 * 1024

const byHandle = z.strictObject({ handle: identityHandle })
const byRun = z.strictObject({ run_id: z.uuid() })
const bySession = z.strictObject({ id: z.uuid() })
const byLogin = z.strictObject({ session_id: z.string().regex(/^[A-Za-z0-9_-]{16,64}$/) })
const byProvider = z.strictObject({ provider: providerName })
const byProviderName = z.strictObject({ provider_name: providerName })
const byConnection = z.strictObject({ provider: providerName, connection: connectionName })
const connect = startAuthSession.omit({ provider: true, source: true })

/**
 * Lists every endpoint of the API once: the daemon serves them, its OpenAPI document describes them, and the client and
 * the dashboard call them by these keys. Parameters of a path stand in braces.
 */
export const contract = {
  'GET /api/health': {
    access: 'anyone',
    summary:
      'Liveness, whatever state the parts are in. A challenge in `x-broker-challenge` is answered by a signature; by 503 where the key for it cannot be had.',
    whileSealed: true,
    reply: health,
  },
  'GET /api/ready': {
    access: 'principal or suspended',
    summary: 'Readiness: every part tried out in small, for the caller.',
    whileSealed: true,
    reply: readiness,
  },
  'GET /api/whoami': {
    access: 'run',
    summary: 'Who the caller is to this daemon.',
    reply: whoami,
  },

  'POST /api/identities/register': {
    access: 'key',
    perSource: 'registrations',
    summary: 'Registers the key that signs the request; `x-broker-bootstrap` claims it for the local owner at once.',
    body: registerIdentity,
    reply: registration,
    status: 201,
  },
  'GET /api/identities': {
    access: 'principal',
    summary: "The identities of the caller's principal.",
    reply: identities,
  },
  'GET /api/identities/{handle}': {
    access: 'key or browser',
    perSource: 'polls',
    summary:
      "One's own identity, asked again and again while its claim is open; for a browser, one of its principal's.",
    params: byHandle,
    reply: identity,
  },
  'POST /api/identities/{handle}/label': {
    access: 'principal',
    summary: 'What people see beside the handle; an empty one removes it. The handle itself is part of what signs.',
    params: byHandle,
    body: labelIdentity,
    reply: ok,
  },
  'DELETE /api/identities/{handle}': {
    access: 'principal',
    summary: 'Removes an identity of the same principal: it can sign no more.',
    params: byHandle,
    reply: ok,
  },
  'POST /api/runs': {
    access: 'agent',
    summary: 'Registers the key of one `broker run`, which may ask for credentials and ship events, and nothing else.',
    body: startRun,
    reply: run,
    status: 201,
  },
  'POST /api/runs/{run_id}/end': {
    access: 'run',
    summary: 'Ends a run: its key can sign no more. A run can end itself.',
    params: byRun,
    body: endRun,
    reply: ok,
  },
  'GET /api/runs/{run_id}/channel': {
    access: 'run',
    summary: 'Switches the connection to the channel of the run that signed: frames with its questions and events.',
    params: byRun,
    switchesTo: CHANNEL_PROTOCOL,
    reply: ok,
  },

  'POST /api/auth/register': {
    access: 'anyone',
    summary: 'Makes an account, and signs the browser in. The first account is an admin.',
    body: signUp,
    takesForm: true,
    perSource: 'registrations',
    reply: signedIn,
    status: 201,
  },
  'POST /api/auth/login': {
    access: 'anyone',
    summary: 'Signs the browser in: a session cookie, and the CSRF token for what changes anything.',
    body: signIn,
    takesForm: true,
    reply: signedIn,
  },
  'POST /api/logout': {
    access: 'browser',
    summary: 'Ends the session of this browser.',
    takesForm: true,
    reply: ok,
  },
  'POST /api/session': {
    access: 'agent',
    summary: "A link that signs the caller's browser in: good once, for 60 seconds.",
    reply: dashboardLink,
  },
  'GET /api/me': {
    access: 'browser',
    summary: 'Who is signed in by this browser; with `csrf=check` refused where the CSRF token is not its own.',
    query: z.strictObject({ csrf: z.literal('check').optional() }),
    csrfWhere: { csrf: 'check' },
    reply: me,
  },
  'POST /api/auth/password': {
    access: 'browser',
    summary: "Changes the account's password; its other sessions end.",
    body: changePassword,
    reply: ok,
  },
  'GET /api/accounts': {
    access: 'admin',
    summary: 'The accounts of the deployment, and the principal of each; for admins.',
    reply: accountList,
  },
  'POST /api/admin/reset-password': {
    access: 'operator',
    summary: 'Gives an account another password; its sessions, links and known browsers end.',
    body: resetPassword,
    reply: passwordReset,
  },
  'GET /api/browser-sessions': {
    access: 'principal',
    summary: 'The browsers that are signed in for the caller.',
    reply: browserSessions,
  },
  'DELETE /api/browser-sessions/{id}': {
    access: 'principal',
    summary: 'Signs one of them out.',
    params: bySession,
    reply: ok,
  },
  'POST /api/auth/providers/{provider_name}/connect': {
    access: 'browser',
    summary: 'Begins a login from the dashboard; a form is led on to what the login needs.',
    params: byProviderName,
    body: connect,
    takesForm: true,
    reply: authSession,
    status: 201,
  },

  'POST /api/auth/sessions': {
    access: 'principal',
    summary: 'Begins a login. What to do next is in `next_action`.',
    body: startAuthSession,
    reply: authSession,
    status: 201,
  },
  'POST /api/auth/sessions/check': {
    access: 'principal',
    summary: 'Decides on a key as a login with it would: nobody is asked, nothing is kept.',
    body: checkAuthSession,
    reply: checkedAuthSession,
  },
  'GET /api/auth/sessions/{session_id}': {
    access: 'principal',
    summary: 'How far a login is.',
    params: byLogin,
    reply: authSession,
  },
  'POST /api/auth/sessions/{session_id}/resume': {
    access: 'principal',
    summary:
      'Sends the values that the login asks for, or as `callback_url` the address that a browser elsewhere ended at; without any, answers how far an OAuth login is.',
    params: byLogin,
    body: resumeAuthSession,
    reply: authSession,
  },
  'DELETE /api/auth/sessions/{session_id}': {
    access: 'principal',
    summary: 'Cancels a login: nothing of it is stored. One that is over stays as it is.',
    params: byLogin,
    reply: authSession,
  },

  'GET /api/connections': {
    access: 'principal or run',
    summary: "The connections of the caller's vault, sorted by provider and name; for a run, those that it may use.",
    reply: connections,
  },
  'GET /api/connections/{provider}/{connection}': {
    access: 'principal or run',
    summary:
      'One connection with its credential, redacted unless `reveal=true`, which is audited, and refused to a run.',
    params: byConnection,
    query: z.strictObject({ reveal: z.enum(['true', 'false']).optional() }),
    csrfWhere: { reveal: 'true' },
    reply: connectionDetail,
  },
  'POST /api/connections/{provider}/{connection}/compare': {
    access: 'principal',
    summary: 'Whether the connection holds exactly these values, without telling which it holds.',
    params: byConnection,
    body: resumeAuthSession,
    reply: z.strictObject({ same: z.boolean() }),
  },
  'GET /api/connections/{provider}/{connection}/approval': {
    access: 'principal',
    summary: 'What a connection that needs approval could reach with it, and what no more.',
    params: byConnection,
    reply: approval,
  },
  'POST /api/connections/{provider}/{connection}/approve': {
    access: 'principal',
    summary: "Lets the credential go where the provider's definition sends it now.",
    params: byConnection,
    body: approve,
    reply: approved,
  },
  'POST /api/connections/{provider}/{connection}/logout': {
    access: 'principal',
    summary: 'Removes one connection; the provider is not contacted.',
    params: byConnection,
    reply: loggedOut,
  },
  'GET /api/vault/status': {
    access: 'principal or suspended',
    summary: "How the caller's vault stands: sealed or open, where its key is, and how far it has come.",
    whileSealed: true,
    reply: vaultState,
  },
  'POST /api/vault/lock': {
    access: 'admin',
    summary: 'Has this daemon forget every key of the vault, until somebody unlocks it.',
    reply: vaultState,
  },
  'POST /api/vault/unlock': {
    access: 'anyone',
    perSource: 'unlocks',
    summary:
      "Opens the vault of this daemon by its passphrase, which is the proof. Where the key is not under one, or none was chosen yet, `x-broker-operator` says that the daemon's own user does.",
    whileSealed: true,
    body: unlockVault,
    reply: ok,
  },
  'POST /api/vault/rotate': {
    access: 'principal',
    summary:
      "Makes a new data key for the caller's vault, for every vault where an admin calls, and seals the records anew, in the background.",
    reply: rotated,
    status: 202,
  },
  'POST /api/vault/rekey': {
    access: 'admin',
    summary: 'Brings the whole store under another master key, which is read back before the one of before goes.',
    body: rekeyVault,
    reply: rekeyed,
  },
  'POST /api/vault/restore': {
    access: 'principal or suspended',
    summary:
      'Takes the vault as it is, after damage or a restored backup: what does not open is given up. Rows that say who is who are put back as Broker wrote them; `x-broker-bootstrap` lets the owner of the machine do so whatever was changed.',
    reply: restored,
  },
  'POST /api/connections/{provider}/revoke': {
    access: 'principal',
    summary: "Revokes at the provider where it can, and removes all of the provider's connections.",
    params: byProvider,
    reply: revoked,
  },
  'POST /api/connections/{provider}/{connection}/default': {
    access: 'principal',
    summary: "Makes this connection the provider's default.",
    params: byConnection,
    reply: defaultSet,
  },

  'GET /api/providers': {
    access: 'principal or run',
    summary:
      'Every provider, bundled and custom, with how many connections the caller has; `detail=keys` adds where keys are found.',
    query: z.strictObject({ detail: z.literal('keys').optional() }),
    reply: providerList,
  },
  'GET /api/providers/{provider}': {
    access: 'principal or run',
    summary: 'The whole definition of a provider.',
    params: byProvider,
    reply: describedProvider,
  },
  'POST /api/providers': {
    access: 'admin',
    summary: 'Registers a custom provider.',
    body: registerProvider,
    reply: registeredProvider,
    status: 201,
  },
  'POST /api/providers/batch': {
    access: 'admin',
    summary: 'Registers several custom providers, all or none, and says of each what became of it.',
    body: registerProviders,
    maxBody: CATALOGUE_BYTES,
    reply: registeredProviders,
  },
  'DELETE /api/providers/{provider}': {
    access: 'admin',
    summary:
      'Removes a custom provider, or resets a bundled one to its shipped form, with its connections; with `unused=true` only one without connections, once nobody logs in there.',
    params: byProvider,
    query: z.strictObject({ unused: z.literal('true').optional() }),
    reply: removedProvider,
  },

  'GET /api/catalogue': {
    access: 'principal',
    summary: 'Which bundled definitions are in use: their version, and signed catalogue files before them.',
    reply: catalogue,
  },
  'POST /api/catalogue': {
    access: 'admin',
    summary: 'Puts a signed catalogue file to use; with `check`, only says what would change.',
    body: updateCatalogue,
    maxBody: CATALOGUE_BYTES,
    reply: catalogueChange,
  },
  'DELETE /api/catalogue': {
    access: 'admin',
    summary:
      'Goes back to the definitions that came with this version; with `check=true`, only says what would change.',
    query: resetCatalogue,
    reply: catalogueChange,
  },

  'GET /api/proxy/routes': {
    access: 'run',
    summary: 'Which hosts a credential is connected for; `scope=all` names those without one too.',
    query: z.strictObject({ scope: z.enum(['connected', 'all']).optional() }),
    isPolled: true,
    reply: routes,
  },
  'POST /api/credentials/resolve': {
    access: 'run',
    summary: 'The headers and query parameters that carry the credential for one request.',
    body: resolveRequest,
    reply: resolution,
  },
  'POST /audit/events': {
    access: 'run',
    summary: 'Takes what a proxy saw. Who it was comes from the signature; what was sent before is stored once.',
    body: shippedBatch,
    maxBody: BATCH_BYTES,
    reply: accepted,
    status: 202,
  },

  'GET /api/why': {
    access: 'run',
    summary:
      'What would become of a request, and why. `identity`: an agent of the caller; a run asks for itself alone.',
    query: explainQuery,
    reply: explanation,
  },

  'GET /api/audit/events': {
    access: 'principal or run',
    summary:
      'Audit events, newest first: all of them for an admin, those of the own principal for a user, its own for a run.',
    query: auditQuery,
    reply: auditPage,
  },
  'GET /api/audit/counts': {
    access: 'principal',
    summary: 'How many of these events each hour had, by event, provider and status.',
    query: auditCountsQuery,
    reply: auditCounts,
  },
  'GET /api/audit/export': {
    access: 'principal',
    summary: 'The same events as a file: JSON Lines, or CSV for a spreadsheet.',
    query: auditExportQuery,
    reply: z.unknown(),
  },

  'GET /api/audit/verify': {
    access: 'admin',
    summary:
      'Walks the audit log and tells what was done to it outside of Broker. JSON Lines: how far it has come (`checked`, `of`), and in the last line what was found.',
    query: auditVerifyQuery,
    reply: z.unknown(),
  },

  'GET /api/live': {
    access: 'browser',
    summary: 'Server-sent events: `change`, with the number of the newest audit event, at the beginning and with each.',
    reply: z.unknown(),
  },
} as const satisfies Record<`${'GET' | 'POST' | 'DELETE'} /${string}`, Endpoint>

export type Contract = typeof contract
export type EndpointKey = keyof Contract

/** Gives what an endpoint answers. */
export type AnswerOf<K extends EndpointKey> = z.output<Contract[K]['reply']>

type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never
type SchemaOf<K extends EndpointKey, Name extends 'query' | 'body'> = Name extends keyof Contract[K]
  ? Contract[K][Name]
  : never

/** A member that is there where the condition holds, and cannot be given elsewhere. */
type Where<Holds, Name extends string, Value> = Holds extends true
  ? { readonly [N in Name]: Readonly<Value> }
  : { readonly [N in Name]?: undefined }
type IsThere<T> = [T] extends [never] ? false : true

/**
 * Gives what a caller sends with a request: `params` of its path, `query` and `body`, each where the endpoint takes them.
 * A query may be written by its parsed values: numbers are sent as text.
 */
export type RequestOf<K extends EndpointKey> = Where<IsThere<NamesIn<K>>, 'params', Record<NamesIn<K>, string>> &
  Partial<
    Where<IsThere<SchemaOf<K, 'query'>>, 'query', z.input<SchemaOf<K, 'query'>> | z.output<SchemaOf<K, 'query'>>>
  > &
  Where<IsThere<SchemaOf<K, 'body'>>, 'body', z.input<SchemaOf<K, 'body'>>>
