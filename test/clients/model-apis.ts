/** The APIs of models, as far as their clients go here: one short answer, whole or streamed in two pieces. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { json as readJson } from 'node:stream/consumers'
import { pathOf } from '../named-server.ts'
import type { Host, Stream } from './service.ts'
import { FIRST, LAST } from './stream-words.ts'

type Answer = Host['answer']
export type Events = readonly (readonly [name: string | undefined, data: object])[]

interface Streamed {
  readonly first: Events
  readonly rest: Events
}

/** Some terminals show only lines that are whole. */
const PARAGRAPH = `${FIRST}\n`
const WHOLE = `${PARAGRAPH}${LAST}`

export const openai: Answer = async (request, response, stream) => {
  const path = pathOf(request.url)
  const { stream: isStreamed = false, model = 'gpt-5' } = await bodyOf(request)
  if (path === '/v1/events') return sendEvents(response, PLAIN_EVENTS, stream)
  if (path === '/v1/models') return sendJson(response, { object: 'list', data: [], models: [] })
  if (path === '/v1/chat/completions' && isStreamed) return sendEvents(response, chatEvents(model), stream)
  if (path === '/v1/chat/completions') return sendJson(response, chatCompletion(model))
  if (path === '/v1/responses' && isStreamed) return sendEvents(response, responseEvents(model), stream)
  if (path === '/v1/responses') return sendJson(response, responseOf(model, [messageItem(WHOLE)]))
  return sendJson(response, { error: { message: 'Not found' } }, 404)
}

export const anthropic: Answer = async (request, response, stream) => {
  const path = pathOf(request.url)
  const { stream: isStreamed = false, model = 'claude' } = await bodyOf(request)
  if (path === '/api/hello') return sendJson(response, { message: 'hello' })
  if (path === '/v1/messages/count_tokens') return sendJson(response, { input_tokens: 1 })
  if (path === '/v1/messages' && isStreamed) return sendEvents(response, messageEvents(model), stream)
  if (path === '/v1/messages') return sendJson(response, message(model, [{ type: 'text', text: WHOLE }], 'end_turn'))
  if (path === '/v1/models') return sendJson(response, { data: [], has_more: false })
  return sendJson(response, { type: 'error', error: { type: 'not_found_error', message: 'Not found' } }, 404)
}

export const gemini: Answer = async (request, response, stream) => {
  await bodyOf(request)
  const path = pathOf(request.url)
  if (path.endsWith(':streamGenerateContent')) return sendEvents(response, contentEvents, stream)
  if (path.endsWith(':generateContent')) return sendJson(response, content(WHOLE, 'STOP'))
  if (path.endsWith(':countTokens')) return sendJson(response, { totalTokens: 1 })
  return sendJson(response, { models: [] })
}

const PLAIN_EVENTS: Streamed = { first: [[undefined, { word: FIRST }]], rest: [[undefined, { word: LAST }]] }

function chatCompletion(model: string) {
  const message = { role: 'assistant', content: WHOLE }
  return { ...chat(model, 'chat.completion'), choices: [{ index: 0, message, finish_reason: 'stop' }], usage: USAGE }
}

function chatEvents(model: string): Streamed {
  const chunk = (delta: object, finish_reason: string | null) =>
    [
      undefined,
      { ...chat(model, 'chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason }], usage: null },
    ] as const
  return {
    first: [chunk({ role: 'assistant', content: PARAGRAPH }, null)],
    rest: [chunk({ content: LAST }, null), chunk({}, 'stop')],
  }
}

const USAGE = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
const RESPONSE_USAGE = {
  input_tokens: 1,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 2,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 3,
}

function chat(model: string, object: string) {
  return { id: 'chatcmpl-1', object, created: 1, model }
}

function messageItem(text: string) {
  const content = text === '' ? [] : [{ type: 'output_text', text, annotations: [] }]
  return { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }
}

function responseOf(model: string, output: readonly object[], status = 'completed') {
  return { id: 'resp_1', object: 'response', created_at: 1, status, model, output, usage: RESPONSE_USAGE }
}

export function responseEvents(model: string): Streamed {
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const event = (type: string, data: object, sequence_number: number) =>
    [type, { type, sequence_number, ...data }] as const
  const part = { type: 'output_text', text: '', annotations: [] }
  return {
    first: [
      event('response.created', { response: responseOf(model, [], 'in_progress') }, 0),
      event('response.output_item.added', { output_index: 0, item: messageItem('') }, 1),
      event('response.content_part.added', { ...place, part }, 2),
      event('response.output_text.delta', { ...place, delta: PARAGRAPH }, 3),
    ],
    rest: [
      event('response.output_text.delta', { ...place, delta: LAST }, 4),
      event('response.output_text.done', { ...place, text: WHOLE }, 5),
      event('response.content_part.done', { ...place, part: { ...part, text: WHOLE } }, 6),
      event('response.output_item.done', { output_index: 0, item: messageItem(WHOLE) }, 7),
      event('response.completed', { response: responseOf(model, [messageItem(WHOLE)]) }, 8),
    ],
  }
}

function message(model: string, content: readonly object[], stop_reason: string | null) {
  const usage = { input_tokens: 1, output_tokens: 2 }
  return { id: 'msg_1', type: 'message', role: 'assistant', model, content, stop_reason, stop_sequence: null, usage }
}

function messageEvents(model: string): Streamed {
  const event = (type: string, data: object = {}) => [type, { type, ...data }] as const
  const delta = (text: string) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
  return {
    first: [
      event('message_start', { message: message(model, [], null) }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      delta(PARAGRAPH),
    ],
    rest: [
      delta(LAST),
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } }),
      event('message_stop'),
    ],
  }
}

function content(text: string, finishReason?: string) {
  const candidate = { content: { role: 'model', parts: [{ text }] }, index: 0, ...(finishReason && { finishReason }) }
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 }
  return { candidates: [candidate], usageMetadata, modelVersion: 'gemini-2.5-pro' }
}

const contentEvents: Streamed = {
  first: [[undefined, content(PARAGRAPH)]],
  rest: [[undefined, content(LAST, 'STOP')]],
}

/** Whatever a client asks for that has no body, or none in JSON, is asked for with nothing. */
async function bodyOf(request: IncomingMessage): Promise<{ readonly stream?: boolean; readonly model?: string }> {
  if (request.method !== 'POST') return {}
  return (await readJson(request).catch(() => ({}))) as object
}

export function sendJson(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function sendEvents(response: ServerResponse, { first, rest }: Streamed, stream: Stream): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(first.map(eventText).join(''))
  await stream
  response.end(rest.map(eventText).join(''))
}

function eventText([name, data]: Events[number]): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`
}
