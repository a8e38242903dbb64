/**
 * Who may know whom: at once the picture in ARCHITECTURE.md (`node tools/check-arrows.ts --print`) and the rule that
 * `npm run check` holds the sources to.
 */

export interface Room {
  /** Directory below `src`. */
  readonly name: string
  /** Rooms whose door it may import. */
  readonly imports: readonly string[]
  /** Rooms of which it may import types: they are gone when the program runs. */
  readonly types?: readonly string[]
}

/** Whoever talks in shapes may name them: types of these may be imported everywhere but by `protocol`. */
const SHAPES = ['schemas']

/** Rooms that others start and do not import: they need no door. */
export const entries: ReadonlySet<string> = new Set(['daemon', 'cli', 'dashboard'])

export const rooms: readonly Room[] = [
  { name: 'protocol', imports: [] },
  { name: 'network', imports: ['protocol'] },
  { name: 'injection', imports: ['protocol'], types: SHAPES },
  { name: 'schemas', imports: ['protocol'] },
  { name: 'export', imports: ['protocol'], types: SHAPES },
  { name: 'identity', imports: ['protocol'], types: SHAPES },
  { name: 'config', imports: ['protocol', 'network', 'identity'], types: SHAPES },
  { name: 'client', imports: ['protocol', 'network', 'injection', 'identity'], types: SHAPES },
  { name: 'proxy/messages', imports: ['protocol', 'network'] },
  { name: 'proxy/tls', imports: ['protocol', 'network'] },
  { name: 'proxy/http1', imports: ['protocol', 'network', 'proxy/messages'] },
  { name: 'proxy/http2', imports: ['protocol', 'network', 'proxy/messages'] },
  {
    name: 'proxy/exchange',
    imports: ['protocol', 'network', 'injection', 'proxy/messages'],
    types: SHAPES,
  },
  {
    name: 'proxy',
    imports: [
      'protocol',
      'network',
      'injection',
      'proxy/messages',
      'proxy/tls',
      'proxy/http1',
      'proxy/http2',
      'proxy/exchange',
    ],
    types: SHAPES,
  },
  { name: 'isolation', imports: [] },
  {
    name: 'run',
    imports: ['protocol', 'network', 'identity', 'isolation', 'proxy'],
    types: [...SHAPES, 'client', 'config'],
  },
  { name: 'import', imports: ['protocol', 'network'], types: [...SHAPES, 'client'] },
  {
    name: 'cli',
    imports: ['protocol', 'network', 'identity', 'config', 'client', 'isolation', 'proxy', 'run', 'import', 'export'],
    types: SHAPES,
  },
  { name: 'dashboard', imports: [], types: SHAPES },
  { name: 'daemon/store', imports: ['protocol'] },
  { name: 'daemon/vault', imports: ['protocol', 'daemon/store'] },
  { name: 'daemon/pages', imports: ['protocol', 'schemas'] },
  { name: 'daemon/signing', imports: ['protocol'], types: SHAPES },
  {
    name: 'daemon/providers',
    imports: ['protocol', 'network', 'injection', 'schemas', 'daemon/signing'],
    types: ['daemon/store'],
  },
  {
    name: 'daemon/deployment',
    imports: ['protocol', 'identity', 'daemon/providers'],
    types: [...SHAPES, 'daemon/store', 'daemon/vault', 'daemon/audit'],
  },
  { name: 'daemon/shared-cache', imports: ['protocol'] },
  { name: 'daemon/audit', imports: ['protocol', 'schemas', 'daemon/store'] },
  { name: 'daemon/flows', imports: ['protocol', 'network', 'schemas'] },
  {
    name: 'daemon/connections',
    imports: ['protocol', 'network', 'schemas', 'daemon/store', 'daemon/vault', 'daemon/audit', 'daemon/providers'],
  },
  {
    name: 'daemon/rights',
    imports: ['protocol', 'daemon/store', 'daemon/vault', 'daemon/audit'],
    types: SHAPES,
  },
  {
    name: 'daemon/principals',
    imports: ['protocol', 'schemas', 'identity', 'daemon/store', 'daemon/audit', 'daemon/vault', 'daemon/rights'],
  },
  {
    name: 'daemon/accounts',
    imports: ['protocol', 'schemas', 'daemon/store', 'daemon/audit', 'daemon/rights'],
    types: ['daemon/principals'],
  },
  {
    name: 'daemon/keys',
    imports: ['protocol', 'daemon/vault'],
    types: [...SHAPES, 'daemon/store', 'daemon/audit', 'daemon/rights'],
  },
  {
    name: 'daemon/credentials',
    imports: [
      'protocol',
      'network',
      'injection',
      'schemas',
      'daemon/signing',
      'daemon/providers',
      'daemon/connections',
      'daemon/audit',
      'daemon/flows',
    ],
    types: ['daemon/principals'],
  },
  {
    name: 'daemon/auth-sessions',
    imports: [
      'protocol',
      'network',
      'schemas',
      'daemon/providers',
      'daemon/connections',
      'daemon/audit',
      'daemon/flows',
    ],
    types: ['daemon/principals', 'daemon/store', 'daemon/vault', 'daemon/shared-cache'],
  },
  {
    name: 'daemon/readiness',
    imports: [
      'protocol',
      'schemas',
      'daemon/store',
      'daemon/vault',
      'daemon/providers',
      'daemon/connections',
      'daemon/audit',
      'daemon/rights',
    ],
    types: ['daemon/principals', 'daemon/deployment', 'daemon/shared-cache'],
  },
  {
    name: 'daemon/releases',
    imports: ['protocol', 'network', 'injection'],
    types: ['schemas', 'daemon/store', 'daemon/audit', 'daemon/connections', 'daemon/credentials'],
  },
  {
    name: 'daemon/channel',
    imports: ['protocol', 'injection', 'schemas'],
    types: ['daemon/audit', 'daemon/releases', 'daemon/principals'],
  },
  { name: 'daemon/copies', imports: ['protocol', 'daemon/store'] },
  {
    name: 'daemon/api',
    imports: [
      'protocol',
      'network',
      'injection',
      'schemas',
      'export',
      'identity',
      'daemon/audit',
      'daemon/principals',
      'daemon/accounts',
      'daemon/providers',
      'daemon/connections',
      'daemon/credentials',
      'daemon/auth-sessions',
      'daemon/pages',
      'daemon/readiness',
    ],
    types: ['daemon/deployment', 'daemon/releases', 'daemon/channel', 'daemon/keys'],
  },
  {
    name: 'daemon',
    imports: [
      'protocol',
      'network',
      'schemas',
      'identity',
      'config',
      'daemon/store',
      'daemon/vault',
      'daemon/pages',
      'daemon/providers',
      'daemon/audit',
      'daemon/flows',
      'daemon/connections',
      'daemon/rights',
      'daemon/principals',
      'daemon/accounts',
      'daemon/credentials',
      'daemon/auth-sessions',
      'daemon/readiness',
      'daemon/deployment',
      'daemon/shared-cache',
      'daemon/releases',
      'daemon/channel',
      'daemon/keys',
      'daemon/copies',
      'daemon/api',
    ],
  },
]

/** Whether directories below that of this room are rooms of their own. */
export function holdsRooms(room: string): boolean {
  return rooms.some(({ name }) => name.startsWith(`${room}/`))
}

export interface SharpTool {
  /** Module names; one that begins with `node:` is Node's own. */
  readonly modules: readonly string[]
  /** Rooms that may touch it. */
  readonly rooms: readonly string[]
}

/** What can do harm is in few hands. */
export const sharpTools: readonly SharpTool[] = [
  { modules: ['node:sqlite', 'pg'], rooms: ['daemon/store'] },
  {
    modules: ['kysely'],
    rooms: [
      'daemon/store',
      'daemon/vault',
      'daemon/audit',
      'daemon/connections',
      'daemon/principals',
      'daemon/accounts',
    ],
  },
  { modules: ['ioredis'], rooms: ['daemon/shared-cache'] },
  { modules: ['@napi-rs/keyring'], rooms: ['daemon/vault'] },
  { modules: ['age-encryption'], rooms: ['daemon/copies'] },
  { modules: ['oauth4webapi'], rooms: ['daemon/flows'] },
  { modules: ['node:tls'], rooms: ['network', 'proxy', 'proxy/tls', 'run'] },
  // `network` opens no socket: it asks which family an address has, and which roots there are. `run` does not speak itself:
  // its preload teaches the child's Node to use the proxy.
  {
    modules: ['node:net'],
    rooms: [
      'network',
      'isolation',
      'proxy',
      'proxy/tls',
      'proxy/http1',
      'proxy/http2',
      'run',
      'daemon/api',
      'daemon/flows',
    ],
  },
  { modules: ['node:http', 'node:https'], rooms: ['cli', 'client', 'isolation', 'run', 'daemon/api', 'daemon/flows'] },
  { modules: ['node:http2'], rooms: ['proxy/http2'] },
  // The vault: one command, which the operator names, prints the key.
  { modules: ['node:child_process'], rooms: ['cli', 'isolation', 'run', 'daemon/vault'] },
  { modules: ['zod'], rooms: ['schemas', 'daemon/providers', 'daemon/api'] },
  {
    modules: ['react', 'react-dom', 'radix-ui', '@tanstack/react-query', '@tanstack/react-virtual'],
    rooms: ['dashboard'],
  },
  { modules: ['commander', 'picocolors'], rooms: ['cli'] },
  { modules: ['json5', 'smol-toml', 'yaml'], rooms: ['import'] },
  { modules: ['pino', 'rotating-file-stream'], rooms: ['daemon', 'cli'] },
  // The garbage collector can be asked for by no other way.
  { modules: ['node:vm'], rooms: ['config'] },
  { modules: ['node:inspector', 'node:cluster', 'node:dgram', 'node:repl', 'node:wasi'], rooms: [] },
]

/** Who may read `process.env`: the room that parses it, the two programs that hand it over, and what runs in the child. */
export const environmentReaders: readonly string[] = [
  'src/config/',
  'src/cli/launch.js',
  'src/cli/main.ts',
  'src/cli/run-proxy.ts',
  'src/daemon/main.ts',
  'src/isolation/attacker.cjs',
  'src/daemon/copy.ts',
  'src/run/preload.cjs',
]

/** Suites and what they stand on. Their imports are free; nothing imports them. */
export const TEST_FILE = /\.(?:test|fixture)\.ts$|\/test-[a-z-]+\.ts$/
