import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { type AgentOptions, Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Duplex } from 'node:stream'

export interface Outgoing {
  readonly method: string
  /** Path and query as they are sent. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Silence after which the request is given up, in milliseconds. */
  readonly timeout: number
  /** Hears each part of the answer as it comes. */
  readonly onText?: (part: string) => void
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

/** A connection that speaks another protocol from here on. */
export interface Switched {
  readonly socket: Duplex
  /** Bytes of it that came already. */
  readonly head: Buffer
}

/** Whose certificates are taken. */
export type Trust = NonNullable<AgentOptions['secureContext']>

/** The request got no whole answer. */
export class ConnectionFailed extends Error {
  /** The connection was kept from an earlier request and had been closed meanwhile, so that nobody read this one. */
  readonly stale: boolean

  constructor(message: string, stale: boolean, cause?: unknown) {
    super(message, { cause })
    this.stale = stale
  }
}

/** No answer of the daemon comes near this: what is larger is not the daemon. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024
const STALE_CODES: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE'])

const KEPT = { keepAlive: true, noDelay: true, maxFreeSockets: 16 }

export interface TransportOptions {
  readonly trust?: (() => Promise<Trust>) | undefined
  readonly socketPath?: string | undefined
}

/** Requests to one origin over kept connections; `onClose` hears of each connection that ends. */
export class Transport {
  #agent: HttpAgent | undefined
  /** Of https, where the caller says whom to trust. */
  readonly #trust: (() => Promise<Trust>) | undefined
  readonly #request: typeof httpRequest
  readonly #target: { readonly hostname: string; readonly port: string } | { readonly socketPath: string }
  readonly #onClose: () => void

  /** @param socketPath of a run's own socket, in place of the origin's address */
  constructor(origin: URL, onClose: () => void, { trust, socketPath }: TransportOptions) {
    const secure = origin.protocol === 'https:' && socketPath === undefined
    this.#agent = secure ? undefined : new HttpAgent(KEPT)
    this.#trust = trust
    this.#request = secure ? httpsRequest : httpRequest
    this.#target =
      socketPath === undefined
        ? { hostname: origin.hostname.replace(/^\[|\]$/g, ''), port: origin.port }
        : { socketPath }
    this.#onClose = onClose
  }

  /** @throws ConnectionFailed */
  async send({ method, path, headers, body, timeout, onText }: Outgoing): Promise<Answer> {
    const agent = this.#agent ?? (await this.#secureAgent())
    return new Promise((resolve, reject) => {
      const request = this.#request({ ...this.#target, agent, method, path, headers, timeout })
      request.once('socket', (socket) => {
        // `end` too: the agent opens another connection from then on, `close` comes later.
        if (!request.reusedSocket) socket.once('end', this.#onClose).once('close', this.#onClose)
      })
      request.once('response', (response) => {
        if (onText && response.statusCode === 200) response.on('data', (part: Buffer) => onText(part.toString()))
        collect(response).then(resolve, reject)
      })
      request.once('timeout', () => request.destroy(new Error(`no answer within ${timeout / 1000} seconds`)))
      request.once('error', (error) => reject(connectionFailed(request, error)))
      request.end(body)
    })
  }

  /**
   * Asks for another protocol on a connection of its own; the answer where the other end goes on with HTTP.
   * @throws ConnectionFailed
   */
  async switchTo(
    protocol: string,
    { method, path, headers, timeout }: Omit<Outgoing, 'body'>,
  ): Promise<Switched | Answer> {
    const agent = this.#agent ?? (await this.#secureAgent())
    const all = { ...headers, connection: 'Upgrade', upgrade: protocol }
    return new Promise((resolve, reject) => {
      const request = this.#request({ ...this.#target, agent, method, path, headers: all, timeout })
      request.once('upgrade', (_, socket, head) => {
        socket.setTimeout(0)
        resolve({ socket, head })
      })
      request.once('socket', (socket) => {
        if (!request.reusedSocket) socket.once('end', this.#onClose).once('close', this.#onClose)
      })
      request.once('response', (response) => collect(response).then(resolve, reject))
      request.once('timeout', () => request.destroy(new Error(`no answer within ${timeout / 1000} seconds`)))
      request.once('error', (error) => reject(connectionFailed(request, error)))
      request.end()
    })
  }

  /** Made when the first request needs it: hundreds of roots are read for it. */
  async #secureAgent(): Promise<HttpAgent> {
    const secureContext = await this.#trust?.()
    this.#agent ??= new HttpsAgent({ ...KEPT, ...(secureContext && { secureContext }) })
    return this.#agent
  }

  /** Drops every connection; the process may end. */
  close(): void {
    this.#agent?.destroy()
  }
}

function collect(response: IncomingMessage): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      length += chunk.length
      if (length > MAX_ANSWER_BYTES) response.destroy(new Error('the answer is too large'))
    })
    response.once('error', (error) => reject(new ConnectionFailed(error.message, false, error)))
    response.once('end', () => {
      const text = Buffer.concat(chunks, length).toString('utf8')
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
    })
  })
}

function connectionFailed(request: ClientRequest, error: Error): ConnectionFailed {
  const code = 'code' in error ? error.code : undefined
  return new ConnectionFailed(error.message || String(code), request.reusedSocket && STALE_CODES.has(code), error)
}
