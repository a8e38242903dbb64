import type { HiddenPlaces } from './hidden-places.ts'

export interface SeatbeltPlaces {
  readonly hidden: HiddenPlaces
  /** Places that keep credentials, which are hidden but where they were opened. */
  readonly credentials: readonly string[]
  readonly readable: readonly string[]
  readonly writable: readonly string[]
  /** Ports of this machine that may be reached: that of the proxy. */
  readonly reached: readonly number[]
  /** Ports of this machine that may be reached and served. */
  readonly shared: readonly number[]
}

/**
 * The profile by which sandbox-exec(1) of macOS keeps a command: of rules that fit, the last one counts. There is no view of its own of
 * files, processes or ports: what is hidden is refused, and everything else has its place as outside.
 */
export function seatbeltProfile({ hidden, credentials, readable, writable, reached, shared }: SeatbeltPlaces): string {
  const { home, instead, keyFile } = hidden
  const secret = [...credentials, home, ...(keyFile === undefined ? [] : [keyFile])]
  return [
    '(version 1)',
    '(allow default)',
    '(deny network*)',
    ...[...reached, ...shared].map((port) => `(allow network-outbound (remote ip "localhost:${port}"))`),
    ...shared.map((port) => `(allow network-bind network-inbound (local ip "localhost:${port}"))`),
    `(allow network-outbound (remote unix-socket ${below(instead)}))`,
    '(deny file-write*)',
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (subpath "/dev/fd") (regex #"^/dev/ttys[0-9]+$"))',
    ...writable.map((path) => `(allow file-write* ${below(path)})`),
    ...secret.map((path) => `(deny file-read* file-write* ${below(path)})`),
    ...readable.map((path) => `(allow file-read* ${below(path)})`),
    `(allow file-read* ${below(instead)})`,
    // Nobody else's processes, and nobody else to act in the command's place.
    '(deny signal)',
    '(allow signal (target same-sandbox))',
    '(deny mach-priv-task-port)',
    '(deny appleevent-send)',
    '(deny job-creation)',
    '(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.securityd.xpc"))',
    '',
  ].join('\n')
}

/** A path and all below it, as a profile has it. */
function below(path: string): string {
  return `(subpath "${path.replace(/["\\]/g, (character) => `\\${character}`)}")`
}
