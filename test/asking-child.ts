/** What `broker run` starts in tests: does what each line of standard input says, one after the other, and tells what came of it. */
import { request } from 'node:http'
import { createInterface } from 'node:readline'
import type { ChildAnswer } from './broker-command.ts'

async function get(url: string): Promise<ChildAnswer> {
  try {
    const answer = await fetch(url, {
      headers: { authorization: `Bearer ${process.env['ACME_API_KEY'] ?? ''}` },
      redirect: 'manual',
    })
    const text = await answer.text()
    return { status: answer.status, brokerError: answer.headers.get('x-broker-error'), body: parsed(text) }
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    return { failure: cause instanceof Error ? cause.message : String(cause) }
  }
}

function connect(authority: string, as: string): Promise<ChildAnswer> {
  const proxy = new URL(process.env['HTTPS_PROXY'] ?? '')
  const credentials = as || `${proxy.username}:${proxy.password}`
  const { promise, resolve } = Promise.withResolvers<ChildAnswer>()
  const outgoing = request({
    host: proxy.hostname,
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, 'proxy-authorization': `Basic ${btoa(credentials)}` },
    agent: false,
  })
  outgoing.on('connect', (answer, socket, head) => {
    let text = head.toString()
    const finish = () => {
      socket.destroy()
      resolve({
        status: answer.statusCode ?? 0,
        brokerError: answer.headers['x-broker-error']?.toString() ?? null,
        body: parsed(text),
      })
    }
    const length = Number(answer.headers['content-length'] ?? 0)
    socket.on('data', (chunk) => {
      text += chunk
      if (text.length >= length) finish()
    })
    socket.on('close', finish)
    if (text.length >= length) finish()
  })
  outgoing.on('error', (error) => resolve({ failure: error.message }))
  outgoing.end()
  return promise
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function tell(what: unknown): void {
  process.stdout.write(`${JSON.stringify(what)}\n`)
}

tell({ pid: process.pid, env: process.env })
for await (const line of createInterface({ input: process.stdin })) {
  const [word, target = '', as = ''] = JSON.parse(line) as readonly string[]
  tell(word === 'connect' ? await connect(target, as) : await get(target))
}
