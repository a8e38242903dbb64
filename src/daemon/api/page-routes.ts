import * as z from 'zod'
import { BrokerError, type SecretInput, secretInput } from '../../protocol/index.ts'
import { authSession, connectionName, field, providerName } from '../../schemas/index.ts'
import type { AuthSessions, SessionForm, SessionProgress, SessionTitle } from '../auth-sessions/index.ts'
import { devicePage, inputPage, leadOnPage, notFoundPage, pageAssets, resultPage } from '../pages/index.ts'
import { page } from './page-reply.ts'
import { type RawReply, type Route, route } from './route.ts'

const byId = z.strictObject({ session_id: z.string() })
const values = z.record(z.string().max(32), z.string().max(65_536))

const named = z.strictObject({ provider: providerName, connection: connectionName })
const sessionForm = named.extend({ fields: z.array(field) })
const sessionDevice = named.extend({
  user_code: z.string(),
  verification_uri: z.string(),
  verification_uri_complete: z.string().optional(),
  expires_at: z.string(),
})
/** `next_action` where the login is not complete yet. */
const submitted = named.extend({
  status: authSession.shape.status,
  next_action: authSession.shape.next_action.optional(),
})
const returned = named.extend({ status: z.literal('completed') })

const parameter = z.string().optional()

/** The pages that a login opens in a browser. An unguessable id or state is all that gives access to them. */
export function pageRoutes(sessions: AuthSessions): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/auth/sessions/{session_id}/input',
      access: 'anyone',
      isPage: true,
      perSource: 'pages',
      summary: 'The form of a login: a page, or its fields for `accept: application/json`.',
      params: byId,
      reply: sessionForm,
      handle: async ({ params: { session_id: id }, headers: { wantsHtml } }) => {
        const form = await sessions.form(id)
        if (!form) return missing(wantsHtml)
        const { provider, connection, fields } = form
        return wantsHtml ? page(200, formPage(id, form)) : { body: { provider, connection, fields: [...fields] } }
      },
    }),
    route({
      method: 'POST',
      path: '/api/auth/sessions/{session_id}/input',
      access: 'anyone',
      isPage: true,
      perSource: 'pages',
      summary:
        'Takes the values of the form, posted by the page or as JSON: `{"input": {…}}`. It may lead on to a provider.',
      params: byId,
      // The page posts its fields side by side, with the token that proves where they come from.
      body: z.union([z.strictObject({ input: values }), values]),
      takesForm: true,
      reply: submitted,
      handle: async ({ params: { session_id: id }, body, headers: { wantsHtml, isForm } }) => {
        const form = await sessions.form(id)
        if (!form) return missing(wantsHtml)
        const input = isForm ? fromPage(form, body) : fromJson(body)
        return submit(sessions, { id, form, input, wantsHtml })
      },
    }),
    route({
      method: 'GET',
      path: '/api/auth/sessions/{session_id}/device',
      access: 'anyone',
      isPage: true,
      perSource: 'pages',
      summary:
        'The code of a login by device code and where to enter it: a page, or JSON for `accept: application/json`.',
      params: byId,
      reply: sessionDevice,
      handle: async ({ params: { session_id: id }, headers: { wantsHtml } }) => {
        const device = await sessions.device(id)
        if (!device) return missing(wantsHtml)
        if (wantsHtml) return page(200, devicePage(device))
        const { provider, connection, userCode, verificationUri, verificationUriComplete: complete, expiresAt } = device
        return {
          body: {
            provider,
            connection,
            user_code: userCode,
            verification_uri: verificationUri,
            ...(complete !== undefined && { verification_uri_complete: complete }),
            expires_at: new Date(expiresAt).toISOString(),
          },
        }
      },
    }),
    route({
      method: 'GET',
      path: '/auth/callback/oauth',
      access: 'anyone',
      isPage: true,
      perSource: 'pages',
      isReturn: true,
      actsOnGet: true,
      summary: 'Where a provider sends the browser back to. Good once: `state` says whose login it is.',
      query: z
        .object({ state: parameter, code: parameter, iss: parameter, error: parameter, error_description: parameter })
        .catchall(parameter),
      reply: returned,
      handle: ({ query, headers: { wantsHtml } }) => comeBack(sessions, query, wantsHtml),
    }),
    ...pageAssets.map(({ path, contentType, text }) =>
      route({
        method: 'GET',
        path,
        access: 'anyone',
        summary: 'A file of the pages; its name changes with its text.',
        reply: z.unknown(),
        handle: () => ({
          raw: text,
          headers: { 'content-type': contentType, 'cache-control': 'public, max-age=31536000, immutable' },
        }),
      }),
    ),
  ]
}

interface Submission {
  readonly id: string
  readonly form: SessionForm
  readonly input: SecretInput
  readonly wantsHtml: boolean
}

async function submit(sessions: AuthSessions, { id, form, input, wantsHtml }: Submission) {
  try {
    const progress = await sessions.submit(id, input)
    if (wantsHtml) return nextPage(progress)
    const { provider, connection, status, nextAction } = progress
    return { body: { status, provider, connection, ...(nextAction.type !== 'none' && { next_action: nextAction }) } }
  } catch (error) {
    const isOver = (await sessions.form(id)) === undefined
    if (!wantsHtml || !(error instanceof BrokerError) || isOver) throw error
    return page(error.options.httpStatus ?? 422, formPage(id, form, error))
  }
}

/** Out of the form there are two ways on, and none: the pages' policy lets a form lead nowhere but to the daemon. */
function nextPage(progress: SessionProgress): RawReply {
  const { displayName, nextAction } = progress
  if (nextAction.type === 'open_url') return page(200, leadOnPage({ displayName, url: nextAction.url }))
  if (nextAction.type !== 'device_code') return page(200, connectedPage(progress, progress.warnings))
  return { status: 303, raw: '', headers: { location: new URL(nextAction.url).pathname } }
}

async function comeBack(
  sessions: AuthSessions,
  query: Readonly<Record<string, string | undefined>>,
  wantsHtml: boolean,
) {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  try {
    const title = await sessions.comeBack(new URLSearchParams(given))
    if (!title) throw usedUp()
    if (wantsHtml) return page(200, connectedPage(title))
    return { body: { status: 'completed' as const, provider: title.provider, connection: title.connection } }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    const { message, options } = error
    const httpStatus = options.httpStatus ?? 400
    // The caller is not the one who has to authenticate.
    if (!wantsHtml) throw new BrokerError(error.name, message, { ...options, httpStatus, cause: error })
    return page(httpStatus, resultPage({ title: 'The login did not work', message, tone: 'failure' }))
  }
}

function usedUp(): BrokerError {
  return new BrokerError('InvalidRequestError', 'This address belongs to no login that is under way', {
    httpStatus: 400,
    hint: 'Start the login again: broker login <provider>',
  })
}

function connectedPage({ displayName, connection }: SessionTitle, warnings: readonly string[] = []): string {
  const message = `The connection "${connection}" is stored. Commands behind “broker run” can use it; none can read it.`
  const hint = warnings.length > 0 ? warnings.join(' ') : undefined
  return resultPage({ title: `${displayName} is connected`, message, hint, tone: 'success' })
}

function fromPage(form: SessionForm, body: unknown): SecretInput {
  const { csrf, ...input } = values.parse(body)
  if (csrf !== form.csrf) {
    throw new BrokerError('OperationNotAllowedError', 'The form was not posted by its own page; open the page again')
  }
  return secretInput(input)
}

function fromJson(body: unknown): SecretInput {
  const wrapped = z.strictObject({ input: values }).safeParse(body)
  return secretInput(wrapped.success ? wrapped.data.input : values.parse(body))
}

function formPage(id: string, form: SessionForm, error?: BrokerError): string {
  const wrong = (error?.options.details ?? []).map(({ path, message }) => [path.replace(/^input\./, ''), message])
  return inputPage({
    ...form,
    action: `/api/auth/sessions/${id}/input`,
    ...(error && { error: error.message, fieldErrors: Object.fromEntries(wrong) }),
  })
}

function missing(wantsHtml: boolean): RawReply {
  if (wantsHtml) return page(404, notFoundPage())
  throw new BrokerError('NotFoundError', 'There is no such login session, or it is over', {
    hint: 'Start the login again: broker login <provider>',
  })
}
