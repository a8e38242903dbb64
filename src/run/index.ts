/**
 * One command behind the proxy (contract sections 9 and 12, the tables in sections 3 and 5 of the proxy's notes), in two
 * processes: `broker run` itself, with the command's environment, its signals and its exit code; and that of its proxy, with
 * a key and a folder that live as long as anything the command started.
 * Must never give the child a secret, write one to a file, or print on its standard output.
 */
export { KNOWN_LIMITS } from './known-limits.ts'
export { serveRun } from './load-proxy-half.ts'
export type { FromProxy } from './messages.ts'
export { proxyOfOuterRun } from './outer-line.ts'
export { outsideOfRun } from './outer-run.ts'
export { ProxyProcess, type StartedProxy } from './proxy-process.ts'
export { openRunChannel } from './run-channel.ts'
export { type RunIsolation, runCommand } from './run-command.ts'
export type { ProxySettings } from './serve-run.ts'
export { createSocketFolder } from './socket-folder.ts'
