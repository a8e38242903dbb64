import * as z from 'zod'
import { BrokerError } from '../../protocol/index.ts'
import { connectionName, field, providerName } from '../../schemas/index.ts'
import type { AuthSessions, SessionForm } from '../auth-sessions/index.ts'
import { inputPage, notFoundPage, PAGE_POLICY, pageAssets, resultPage } from '../pages/index.ts'
import { type RawReply, type Route, route } from './route.ts'

const byId = z.strictObject({ session_id: z.string() })
const values = z.record(z.string().max(32), z.string().max(65_536))

const sessionForm = z.strictObject({ provider: providerName, connection: connectionName, fields: z.array(field) })
const submitted = z.strictObject({
  status: z.literal('completed'),
  provider: providerName,
  connection: connectionName,
})

/** The pages that a login opens in a browser. Their unguessable id is all that gives access to them. */
export function pageRoutes(sessions: AuthSessions): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/auth/sessions/{session_id}/input',
      access: 'anyone',
      summary: 'The form of a login: a page, or its fields for `accept: application/json`.',
      params: byId,
      reply: sessionForm,
      handle: ({ params: { session_id: id }, headers: { wantsHtml } }) => {
        const form = sessions.form(id)
        if (!form) return missing(wantsHtml)
        const { provider, connection, fields } = form
        return wantsHtml ? page(200, formPage(id, form)) : { body: { provider, connection, fields: [...fields] } }
      },
    }),
    route({
      method: 'POST',
      path: '/api/auth/sessions/{session_id}/input',
      access: 'anyone',
      summary: 'Takes the values of the form, posted by the page or as JSON: `{"input": {…}}`.',
      params: byId,
      // The page posts its fields side by side, with the token that proves where they come from.
      body: z.union([z.strictObject({ input: values }), values]),
      takesForm: true,
      reply: submitted,
      handle: async ({ params: { session_id: id }, body, headers: { wantsHtml, isForm } }) => {
        const form = sessions.form(id)
        if (!form) return missing(wantsHtml)
        const input = isForm ? fromPage(form, body) : fromJson(body)
        return submit(sessions, { id, form, input, wantsHtml })
      },
    }),
    route({
      method: 'GET',
      path: '/api/auth/sessions/{session_id}/device',
      access: 'anyone',
      summary: 'The page of a login by device code. No provider logs in so in this version: there is none to show.',
      params: byId,
      reply: z.never(),
      handle: ({ headers: { wantsHtml } }) => missing(wantsHtml),
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
  readonly input: Readonly<Record<string, string>>
  readonly wantsHtml: boolean
}

async function submit(sessions: AuthSessions, { id, form, input, wantsHtml }: Submission) {
  const { provider, connection, displayName } = form
  try {
    await sessions.submit(id, input)
  } catch (error) {
    if (!wantsHtml || !(error instanceof BrokerError) || error.name === 'NotFoundError') throw error
    return page(error.options.httpStatus ?? 422, formPage(id, form, error))
  }
  if (!wantsHtml) return { body: { status: 'completed' as const, provider, connection } }
  const message = `The connection "${connection}" is stored. Agents can use it; none can read it.`
  return page(200, resultPage({ title: `${displayName} is connected`, message, tone: 'success' }))
}

function fromPage(form: SessionForm, body: unknown): Readonly<Record<string, string>> {
  const { csrf, ...input } = values.parse(body)
  if (csrf !== form.csrf) {
    throw new BrokerError('OperationNotAllowedError', 'The form was not posted by its own page; open the page again')
  }
  return input
}

function fromJson(body: unknown): Readonly<Record<string, string>> {
  const wrapped = z.strictObject({ input: values }).safeParse(body)
  return wrapped.success ? wrapped.data.input : values.parse(body)
}

function formPage(id: string, form: SessionForm, error?: BrokerError): string {
  const wrong = (error?.options.details ?? []).map(({ path, message }) => [path.replace(/^input\./, ''), message])
  return inputPage({
    displayName: form.displayName,
    connection: form.connection,
    fields: form.fields,
    action: `/api/auth/sessions/${id}/input`,
    csrf: form.csrf,
    ...(form.docsUrl !== undefined && { docsUrl: form.docsUrl }),
    ...(error && { error: error.message, fieldErrors: Object.fromEntries(wrong) }),
  })
}

function missing(wantsHtml: boolean): RawReply {
  if (wantsHtml) return page(404, notFoundPage())
  throw new BrokerError('NotFoundError', 'There is no such login session, or it is over', {
    hint: 'Start the login again: broker login <provider>',
  })
}

function page(status: number, html: string): RawReply {
  return {
    status,
    raw: html,
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PAGE_POLICY },
  }
}
