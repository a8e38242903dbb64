import { type WebSocket, WebSocketServer } from 'ws'
import { pathOf } from '../named-server.ts'
import { type Events, responseEvents } from './model-apis.ts'
import type { Host, Stream } from './service.ts'
import { FIRST, LAST } from './stream-words.ts'

const server = new WebSocketServer({ noServer: true })

/** The WebSockets of OpenAI: below `/v1/responses` an answer to each question, elsewhere two words and the end. */
export const speakByWebSocket: NonNullable<Host['upgrade']> = (request, socket, stream) =>
  server.handleUpgrade(request, socket, Buffer.alloc(0), (client) => {
    client.on('error', () => undefined)
    if (pathOf(request.url) === '/v1/responses') client.on('message', () => answer(client, stream))
    else void greet(client, stream)
  })

async function greet(client: WebSocket, stream: Stream): Promise<void> {
  client.send(FIRST)
  await stream
  client.send(LAST)
  client.close(1000)
}

async function answer(client: WebSocket, stream: Stream): Promise<void> {
  const { first, rest } = responseEvents('gpt-5')
  send(client, first)
  await stream
  send(client, rest)
}

function send(client: WebSocket, events: Events): void {
  for (const [, event] of events) client.send(JSON.stringify(event))
}
