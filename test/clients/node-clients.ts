import { type Client, STATUS } from './client.ts'
import { type NodeVersion, nodeVersions, type packageSets, versionIn } from './packages.ts'

interface Library {
  readonly name: string
  /** Its program, and the name that it imports. */
  readonly program: readonly [file: string, ...arguments_: string[]]
  /** In the set of libraries; Node's own where absent. */
  readonly of?: keyof (typeof packageSets)['libraries']
  readonly nodes: readonly NodeVersion[]
  readonly streams?: false
  readonly fails?: string
}

const ALL: readonly NodeVersion[] = ['20', '22', '24', '26']
const SINCE_22: readonly NodeVersion[] = ['22', '24', '26']

const libraries: readonly Library[] = [
  { name: 'fetch', program: ['fetch.mjs'], nodes: ['20', '22.20', '22', '24', '26'] },
  { name: 'https', program: ['https.mjs'], nodes: ['20', '22.20', '22', '24', '26'] },
  { name: 'https, own agent', program: ['own-agent.mjs'], nodes: ['20', '22.20', '22', '24', '26'] },
  { name: 'WebSocket', program: ['web-socket.mjs'], nodes: SINCE_22 },
  { name: 'http2', program: ['http2.mjs'], nodes: ['26'] },
  { name: 'axios', program: ['axios.mjs'], of: 'axios', nodes: ALL },
  { name: 'got 14', program: ['got.mjs', 'got-14'], of: 'got-14', nodes: ['20'] },
  { name: 'got', program: ['got.mjs', 'got-16'], of: 'got-16', nodes: SINCE_22 },
  { name: 'undici 7', program: ['undici.mjs', 'undici-7'], of: 'undici-7', nodes: ['20'] },
  { name: 'undici', program: ['undici.mjs', 'undici-8'], of: 'undici-8', nodes: SINCE_22 },
  { name: 'undici 7, own agent', program: ['undici-agent.mjs', 'undici-7'], of: 'undici-7', nodes: ['20'] },
  { name: 'undici, own agent', program: ['undici-agent.mjs', 'undici-8'], of: 'undici-8', nodes: SINCE_22 },
  { name: 'node-fetch', program: ['node-fetch.mjs'], of: 'node-fetch', nodes: ALL },
  { name: 'superagent', program: ['superagent.mjs'], of: 'superagent', nodes: ALL },
  { name: 'ws', program: ['ws.mjs'], of: 'ws', nodes: ALL },
  { name: 'openai 4', program: ['openai.mjs', 'openai-4'], of: 'openai-4', nodes: ALL },
  { name: 'openai 6', program: ['openai.mjs', 'openai-6'], of: 'openai-6', nodes: ALL },
  { name: 'openai 7', program: ['openai.mjs', 'openai-7'], of: 'openai-7', nodes: SINCE_22 },
  { name: 'anthropic', program: ['anthropic.mjs'], of: '@anthropic-ai/sdk', nodes: ALL },
  { name: 'google-genai', program: ['google-genai.mjs'], of: '@google/genai', nodes: SINCE_22 },
  { name: 'octokit', program: ['octokit.mjs'], of: '@octokit/rest', nodes: ALL, streams: false },
  { name: 'stripe', program: ['stripe.mjs'], of: 'stripe', nodes: ALL, streams: false },
  { name: 'aws-sdk', program: ['aws-sdk.mjs'], of: '@aws-sdk/client-s3', nodes: ALL },
  { name: 'google-auth 10', program: ['google-auth.mjs', 'google-auth-10'], of: 'google-auth-10', nodes: ['20'] },
  { name: 'google-auth', program: ['google-auth.mjs', 'google-auth-11'], of: 'google-auth-11', nodes: SINCE_22 },
  { name: 'MCP SDK', program: ['mcp.mjs'], of: '@modelcontextprotocol/sdk', nodes: ALL },
]

export const nodeClients: readonly Client[] = libraries.flatMap((library) =>
  library.nodes.map((node) => nodeClient(library, node)),
)

function nodeClient({ name, program: [file, ...args], of, streams, fails }: Library, node: NodeVersion): Client {
  return {
    name,
    runtime: `Node ${node}`,
    version: of === undefined ? nodeVersions[node] : versionIn('libraries', of),
    node,
    ...(of !== undefined && { packages: 'libraries' }),
    files: [`node/${file}`],
    command: ['node', file, ...args],
    shows: STATUS,
    streams: streams !== false,
    ...(fails !== undefined && { fails }),
  }
}
