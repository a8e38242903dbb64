import { type Authority, bracketed, type Host, hostOf } from '../network/index.ts'
import { BrokerError } from '../protocol/index.ts'

/** Dial elsewhere, verify the name as before, as `curl --connect-to`: `host` `''` and `port` 0 match any, `toHost` `''` and `toPort` 0 change nothing. */
export interface ConnectTo {
  readonly host: Host | ''
  readonly port: number
  readonly toHost: Host | ''
  readonly toPort: number
}

const ENTRY = /^(\[[0-9A-Fa-f:.]+\]|[^:[\],]*):([0-9]{0,5}):(\[[0-9A-Fa-f:.]+\]|[^:[\],]*):([0-9]{0,5})$/

/** Reads `BROKER_PROXY_CONNECT_TO`: `host:port:address:port`, comma-separated. Throws InvalidRequestError. */
export function parseConnectTo(text: string): ConnectTo[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(parseEntry)
}

function parseEntry(entry: string): ConnectTo {
  const [, host, port, toHost, toPort] = ENTRY.exec(entry) ?? []
  if (host === undefined || toHost === undefined || Number(port) > 65_535 || Number(toPort) > 65_535) {
    throw new BrokerError('InvalidRequestError', `Cannot read "${entry}" in BROKER_PROXY_CONNECT_TO`, {
      hint: 'Write it as host:port:address:port, several separated by commas.',
    })
  }
  return { host: hostOf(host), port: Number(port), toHost: hostOf(toHost), toPort: Number(toPort) }
}

/** As it is written in `BROKER_PROXY_CONNECT_TO`. */
export function formatConnectTo({ host, port, toHost, toPort }: ConnectTo): string {
  return [bracketed(host), port || '', bracketed(toHost), toPort || ''].join(':')
}

/** Where to dial in place of `target`; the first entry that matches decides. */
export function redirectDial(entries: readonly ConnectTo[], target: Authority): Authority {
  const entry = entries.find(
    ({ host, port }) => (host === '' || host === target.host) && (port === 0 || port === target.port),
  )
  if (entry === undefined) return target
  return { host: entry.toHost || target.host, port: entry.toPort || target.port }
}
