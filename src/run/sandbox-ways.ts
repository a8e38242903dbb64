import { join } from 'node:path'
import type { SandboxWay } from '../isolation/index.ts'
import type { RunningProxy } from '../proxy/index.ts'
import type { AllowedHost } from './messages.ts'
import { openPassage } from './passage.ts'
import { type SharedPort, type SocketFolders, sharePort } from './sandbox-ports.ts'

export interface WaysOptions extends SocketFolders {
  readonly proxy: Pick<RunningProxy, 'port' | 'openPort'>
  /** Ports of this machine that the sandbox shares. */
  readonly ports: readonly number[]
  /** Hosts that a program without a proxy reaches by their names. */
  readonly hosts: readonly AllowedHost[]
  /** Told of the port of each connection that comes from the sandbox and needs no credentials. */
  readonly onAdmitted: (port: number) => void
}

const HOST = '127.0.0.1'
const DEFAULT_PORT = 443

/** The ways out of a sandbox: to the proxy of its run, at the ports that it has outside, and what was allowed besides. */
export async function openWays(options: WaysOptions): Promise<{ readonly ways: readonly SandboxWay[]; close(): void }> {
  const { proxy, ports, hosts, socketFolder, seenFolder, onAdmitted } = options
  const socket = (name: string) => join(seenFolder, name)
  const toProxy = async (name: string, port: number, onOpen?: (port: number) => void) =>
    await openPassage({ path: join(socketFolder, name) }, { host: HOST, port }, (outside) =>
      onOpen?.(outside.localPort ?? 0),
    )
  const servers = [
    await toProxy(PROXY_SOCKET, proxy.port),
    ...(proxy.openPort === undefined ? [] : [await toProxy(OPEN_SOCKET, proxy.openPort, onAdmitted)]),
  ]
  const shared: SharedPort[] = []
  for (const port of new Set(ports)) shared.push(await sharePort(port, options))
  const ways = [
    { host: HOST, port: proxy.port, socket: socket(PROXY_SOCKET) },
    ...(proxy.openPort === undefined ? [] : [{ host: HOST, port: proxy.openPort, socket: socket(OPEN_SOCKET) }]),
    ...hosts.flatMap((host) => wayTo(host, socket(PROXY_SOCKET))),
    ...shared.map(({ way }) => way),
  ]
  return {
    ways,
    close() {
      for (const one of [...servers, ...shared]) one.close()
    },
  }
}

const PROXY_SOCKET = 'proxy.sock'
const OPEN_SOCKET = 'open.sock'

function wayTo({ host, port = DEFAULT_PORT, address }: AllowedHost, socket: string): readonly SandboxWay[] {
  return address === undefined ? [] : [{ host: address, port, socket, target: `${host}:${port}` }]
}
