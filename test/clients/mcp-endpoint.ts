import { json as readJson } from 'node:stream/consumers'
import { sendJson } from './model-apis.ts'
import type { Host } from './service.ts'
import { FIRST, LAST } from './stream-words.ts'

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: { readonly protocolVersion?: string; readonly _meta?: { readonly progressToken?: unknown } }
}

const TOOL = { name: 'speak', description: 'Speaks', inputSchema: { type: 'object', properties: {} } }

/** An MCP server over HTTP with one tool, which says its first word as progress and its last as the result. */
export const mcpEndpoint: Host['answer'] = async (request, response, stream) => {
  if (request.method !== 'POST') return void response.writeHead(405).end()
  const { id, method, params } = (await readJson(request)) as Message
  if (id === undefined) return void response.writeHead(202).end()
  const result = (value: object) => ({ jsonrpc: '2.0', id, result: value })
  if (method !== 'tools/call') return sendJson(response, result(answerTo(method, params)))
  const progress = { progressToken: params?._meta?.progressToken, progress: 1, message: FIRST }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(eventText({ jsonrpc: '2.0', method: 'notifications/progress', params: progress }))
  await stream
  response.end(eventText(result({ content: [{ type: 'text', text: LAST }] })))
}

function answerTo(method: string | undefined, params: Message['params']): object {
  if (method === 'tools/list') return { tools: [TOOL] }
  if (method !== 'initialize') return {}
  const { protocolVersion = '2025-06-18' } = params ?? {}
  return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'acme', version: '1.0.0' } }
}

function eventText(message: object): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`
}
