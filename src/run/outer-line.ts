import { EventEmitter } from 'node:events'
import { request } from 'node:http'
import type { Duplex } from 'node:stream'
import { BrokerError } from '../protocol/index.ts'
import { readJsonLines, writeJsonLine } from './json-lines.ts'
import type { FromProxy, ToOuterRun } from './messages.ts'
import type { ProxyConnection, StartedProxy } from './proxy-process.ts'
import { INNER_RUN } from './run-socket.ts'

const TIME_LIMIT = 20_000

/**
 * A proxy for a run within the one that this process is in: the outer run starts it, and is spoken to by its socket.
 * @throws BrokerError OperationNotAllowedError where nobody answers there any more
 */
export function proxyOfOuterRun(socketPath: string): Promise<StartedProxy> {
  return new Promise((resolve, reject) => {
    const headers = { connection: 'Upgrade', upgrade: INNER_RUN.protocol }
    const asked = request({ socketPath, path: INNER_RUN.path, headers, agent: false, timeout: TIME_LIMIT })
    const failed = (cause?: Error) => reject(outerEnded(cause))
    asked.once('upgrade', (_, socket, head) => {
      socket.setTimeout(0)
      if (head.length > 0) socket.unshift(head)
      const child = new OuterLine(socket)
      const said: FromProxy[] = []
      child.on('message', (message: FromProxy) => said.push(message))
      resolve({ child, said })
    })
    asked.once('response', (answer) => {
      answer.resume()
      failed()
    })
    asked.once('timeout', () => asked.destroy(new Error('no answer in time')))
    asked.once('error', failed)
    asked.end()
  })
}

function outerEnded(cause?: Error): BrokerError {
  return new BrokerError('OperationNotAllowedError', 'The run around this one has ended', {
    ...(cause && { cause }),
    hint: 'Start the outer command again with `broker run`.',
  })
}

/** The connection as a process with a channel looks to its parent. */
class OuterLine extends EventEmitter implements ProxyConnection {
  readonly #line: Duplex

  constructor(line: Duplex) {
    super()
    this.#line = line
    readJsonLines(line, (value) => this.emit('message', value))
    line.on('error', () => {})
    line.once('close', () => this.emit('disconnect'))
  }

  get connected(): boolean {
    return !this.#line.destroyed
  }

  send(message: ToOuterRun, _sent: () => void): boolean {
    writeJsonLine(this.#line, message)
    return true
  }

  disconnect(): void {
    this.#line.end()
  }

  unref(): void {
    ;(this.#line as Duplex & { unref?: () => void }).unref?.()
  }
}
