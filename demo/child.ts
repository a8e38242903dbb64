/** What an agent would be: it calls an API with the key from its environment, and then tells all that it can see. */
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:tls'

export interface ChildReport {
  readonly status: number
  readonly body: string
  readonly key: string | undefined
  /** Environment and arguments of the child and of its parent, as it found them. */
  readonly everything: string
  /** Fingerprint of what a host without a connection showed. */
  readonly certificate: string
}

const [host = '', otherHost = ''] = process.argv.slice(2)
const key = process.env['ACME_API_KEY']

const answer = await call()
const report: ChildReport = {
  status: answer.status,
  body: await answer.text(),
  key,
  everything: everything(),
  certificate: await certificateOf(otherHost),
}
console.log(JSON.stringify(report))

async function call(): Promise<Response> {
  try {
    return await fetch(`https://${host}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  } catch {
    return Response.json({}, { status: 599 })
  }
}

function everything(): string {
  const parent = ['environ', 'cmdline'].map((name) => readable(`/proc/${process.ppid}/${name}`))
  return JSON.stringify([process.env, process.argv, ...parent])
}

function readable(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/** Through the proxy to a host without a connection: the fingerprint of the certificate that is shown there. */
function certificateOf(target: string): Promise<string> {
  const proxy = new URL(process.env['HTTPS_PROXY'] ?? '')
  const credentials = Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64')
  return new Promise((resolve) => {
    const tunnel = request({
      host: proxy.hostname,
      port: proxy.port,
      method: 'CONNECT',
      path: `${target}:443`,
      headers: { host: `${target}:443`, 'proxy-authorization': `Basic ${credentials}` },
    })
    tunnel.on('connect', (_, socket) => {
      const tls = connect({ socket, servername: target, rejectUnauthorized: false }, () => {
        resolve(tls.getPeerCertificate().fingerprint256)
        tls.destroy()
      })
      tls.on('error', () => resolve('none'))
    })
    tunnel.on('error', () => resolve('none'))
    tunnel.end()
  })
}
