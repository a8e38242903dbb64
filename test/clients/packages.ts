/** What comes from npm: each set is installed into a folder of its own, outside of the checkout. */

export const nodeVersions = {
  '20': '20.20.2',
  '22': '22.23.3',
  // The last before fetch and https of Node knew of proxies.
  '22.20': '22.20.0',
  '24': '24.21.0',
  '26': '26.10.0',
} as const

export type NodeVersion = keyof typeof nodeVersions

/** Exact versions by the name that a program imports; another package under that name is written `npm:package@version`. */
export const packageSets = {
  libraries: {
    '@anthropic-ai/sdk': '1.12.0',
    '@aws-sdk/client-s3': '3.1169.0',
    '@aws-sdk/client-sts': '3.1169.0',
    '@google/genai': '3.1.0',
    '@modelcontextprotocol/sdk': '1.32.2',
    '@octokit/rest': '22.0.1',
    axios: '1.21.1',
    'google-auth-10': 'npm:google-auth-library@10.5.0',
    'google-auth-11': 'npm:google-auth-library@11.3.4',
    'got-14': 'npm:got@14.6.5',
    'got-16': 'npm:got@16.1.0',
    'node-fetch': '3.3.2',
    'openai-4': 'npm:openai@4.95.0',
    'openai-6': 'npm:openai@6.30.1',
    'openai-7': 'npm:openai@7.57.0',
    stripe: '23.1.0',
    superagent: '10.4.2',
    'undici-7': 'npm:undici@7.30.2',
    'undici-8': 'npm:undici@8.12.4',
    ws: '8.23.0',
  },
  'npm 10': { npm: '10.9.9' },
  'npm 11': { npm: '11.21.2' },
  'npm 12': { npm: '12.2.0' },
  pnpm: { pnpm: '12.21.0' },
  'yarn 1': { yarn: '1.22.22' },
  'yarn 4': { '@yarnpkg/cli-dist': '4.18.1' },
  bun: { bun: '1.4.5' },
  deno: { deno: '2.9.6' },
  'claude code': { '@anthropic-ai/claude-code': '2.1.330' },
  codex: { '@openai/codex': '0.169.0' },
  'gemini cli': { '@google/gemini-cli': '0.61.0' },
  opencode: { 'opencode-ai': '1.18.33' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

export type PackageSet = keyof typeof packageSets

const { platform, arch } = process

/** Where the program itself is in those whose launcher is put in place by an install script, which does not run here. */
export const binaryFolders: { readonly [Name in PackageSet]?: string } = {
  bun: `@oven/bun-${platform}-${arch === 'arm64' ? 'aarch64' : arch}/bin`,
  opencode: `opencode-${platform}-${arch}/bin`,
  'claude code': `@anthropic-ai/claude-code-${platform}-${arch}`,
}

/** Exact version of one of the set. */
export function versionIn<Name extends PackageSet>(set: Name, name: keyof (typeof packageSets)[Name]): string {
  return String(packageSets[set][name]).replace(/^npm:.*@/, '')
}
