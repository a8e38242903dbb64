import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/** What a token endpoint was asked, and how it answers: by default with rotated tokens, each refresh token good once. */
export interface TokenEndpoint {
  readonly origin: string
  /** Refresh tokens in the order they were spent, good or not. */
  readonly spent: string[]
  /** Tokens in the order they were sent to be revoked. */
  readonly revoked: string[]
  /** Answers in place of the rotation; undefined for that. */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
  /** Seconds that a new access token lives. */
  lifetime: number
  /** Waited for before each answer. */
  hold: Promise<void>
  close(): void
}

/** A server for what a good one would not do: it says whatever the test wants. */
export async function startTokenEndpoint(first = 'CNRYrefresh-0'): Promise<TokenEndpoint> {
  let valid = first
  const server = createServer(async (request, response) => {
    const form = new URLSearchParams(await textOf(request))
    if (request.url === '/revoke') {
      endpoint.revoked.push(form.get('token') ?? '')
      if (endpoint.answer) endpoint.answer(request, response)
      else response.end()
      return
    }
    const token = form.get('refresh_token') ?? ''
    endpoint.spent.push(token)
    await endpoint.hold
    if (endpoint.answer) {
      endpoint.answer(request, response)
      return
    }
    if (token !== valid) return sendJson(response, 400, { error: 'invalid_grant' })
    const turn = Number(token.split('-')[1]) + 1
    valid = `CNRYrefresh-${turn}`
    sendJson(response, 200, {
      access_token: `CNRYaccess-${turn}`,
      token_type: 'bearer',
      refresh_token: valid,
      expires_in: endpoint.lifetime,
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const endpoint: TokenEndpoint = {
    origin: `http://127.0.0.1:${port}`,
    spent: [],
    revoked: [],
    answer: undefined,
    lifetime: 3600,
    hold: Promise.resolve(),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return endpoint
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}
