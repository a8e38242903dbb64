import { BROKER } from '../broker-command.ts'
import { type Client, STATUS } from './client.ts'
import { type PackageSet, packageSets, versionIn } from './packages.ts'
import { LAST } from './stream-words.ts'

type Agent = Pick<Client, 'name' | 'command'> & Partial<Client> & { readonly of: PackageSet }

const CODEX_LOGIN = 'printenv OPENAI_API_KEY | codex login --with-api-key'

const agents: readonly Agent[] = [
  { name: 'Claude Code, headless', of: 'claude code', command: ['claude', '-p', 'Speak'] },
  {
    name: 'Codex, headless',
    of: 'codex',
    command: ['sh', '-c', `${CODEX_LOGIN} && codex exec --skip-git-repo-check Speak`],
  },
  {
    name: 'Gemini CLI, headless',
    of: 'gemini cli',
    command: ['gemini', '--skip-trust', '-m', 'gemini-2.5-pro', '-p', 'Speak'],
  },
  {
    name: 'opencode, headless',
    of: 'opencode',
    command: ['opencode', 'run', '-m', 'anthropic/claude-sonnet-4-5', 'Speak'],
  },
]

const terminals: readonly Agent[] = [
  {
    name: 'Claude Code, terminal',
    of: 'claude code',
    // Its very first start wants to reach hosts that are nobody's here.
    home: ({ folder }) => ({
      '.claude.json': JSON.stringify({
        hasCompletedOnboarding: true,
        theme: 'dark',
        projects: { [folder]: { hasTrustDialogAccepted: true } },
      }),
    }),
    command: ['claude', 'Speak'],
    terminal: {
      answers: [
        // Its own proposal is not to use it.
        [/use this API key[\s\S]*❯ (?:\d\. )?No/, ['Up']],
        [/use this API key[\s\S]*❯ (?:\d\. )?Yes/, ['Enter']],
      ],
      leave: ['C-c', 'C-c'],
    },
  },
  {
    name: 'Codex, terminal',
    of: 'codex',
    command: ['sh', '-c', `${CODEX_LOGIN} && codex Speak`],
    terminal: { answers: [], leave: ['C-c', 'C-c'] },
  },
  {
    name: 'Codex, terminal, twice',
    of: 'codex',
    command: ['sh', '-c', `${CODEX_LOGIN} && codex Speak`],
    twice: true,
    terminal: { answers: [], leave: ['C-c', 'C-c'] },
    note: 'the first run leaves an app server behind',
  },
  {
    name: 'Gemini CLI, terminal',
    of: 'gemini cli',
    home: { '.gemini/settings.json': JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }) },
    command: ['gemini', '--skip-trust', '-m', 'gemini-2.5-pro', '-i', 'Speak'],
    terminal: { answers: [], leave: ['C-c', 'C-c'] },
  },
  {
    name: 'opencode, terminal',
    of: 'opencode',
    command: ['opencode', '-m', 'anthropic/claude-sonnet-4-5', '--prompt', 'Speak'],
    terminal: { answers: [], leave: ['C-c', 'C-c'] },
  },
]

/** An agent of the MCP SDK, behind Broker, that starts a server which its settings put behind Broker too. */
const entry: Client = {
  name: 'MCP entry `broker run -- npx`',
  runtime: 'Node 26',
  version: versionIn('libraries', '@modelcontextprotocol/sdk'),
  node: '26',
  packages: 'libraries',
  tools: ['npm 11'],
  files: ['node/mcp-agent.mjs'],
  texts: {
    'mcp.json': JSON.stringify({
      mcpServers: { acme: { command: BROKER, args: ['run', '--', 'npx', '-y', 'acme-mcp'] } },
    }),
  },
  command: ['node', 'mcp-agent.mjs'],
  shows: STATUS,
  streams: true,
}

export const agentClients: readonly Client[] = [
  entry,
  ...[...agents, ...terminals].map(
    ({ of, ...agent }): Client => ({
      runtime: '',
      version: Object.values(packageSets[of])[0] ?? '',
      node: '24',
      tools: [of],
      shows: new RegExp(LAST),
      streams: agent.terminal !== undefined,
      ...agent,
    }),
  ),
]
