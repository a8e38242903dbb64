import { type Client, STATUS } from './client.ts'

interface Library {
  readonly name: string
  readonly file: string
  /** A package of Debian's, and the module that it brings. */
  readonly debian?: readonly [name: string, module: string]
  /** From an index. */
  readonly wheels?: readonly string[]
  /** The package whose version is shown; Python's own where absent. */
  readonly distribution?: string
  readonly args?: readonly string[]
  readonly streams?: false
  readonly fails?: string
}

const NO_PROXY_SUPPORT = 'has no support for proxies'

const libraries: readonly Library[] = [
  { name: 'urllib', file: 'with_urllib.py' },
  { name: 'http.client', file: 'with_http_client.py', streams: false, fails: NO_PROXY_SUPPORT },
  { name: 'requests', file: 'with_requests.py', debian: ['python3-requests', 'requests'], distribution: 'requests' },
  {
    name: 'urllib3',
    file: 'with_urllib3.py',
    debian: ['python3-urllib3', 'urllib3'],
    distribution: 'urllib3',
    streams: false,
    fails: 'reads no variables for proxies: requests does it for its own',
  },
  { name: 'httpx', file: 'with_httpx.py', debian: ['python3-httpx', 'httpx'], distribution: 'httpx' },
  {
    name: 'aiohttp',
    file: 'with_aiohttp.py',
    debian: ['python3-aiohttp', 'aiohttp'],
    distribution: 'aiohttp',
    fails: 'without `trust_env=True` it goes past every proxy',
  },
  {
    name: 'aiohttp, trust_env',
    file: 'with_aiohttp.py',
    args: ['trust_env'],
    debian: ['python3-aiohttp', 'aiohttp'],
    distribution: 'aiohttp',
  },
  { name: 'boto3', file: 'with_boto3.py', debian: ['python3-boto3', 'boto3'], distribution: 'boto3' },
  {
    name: 'websockets',
    file: 'with_websockets.py',
    debian: ['python3-websockets', 'websockets'],
    distribution: 'websockets',
    fails: `${NO_PROXY_SUPPORT} before version 15`,
  },
  { name: 'httpx 0.28', file: 'with_httpx.py', wheels: ['httpx==0.28.1'], distribution: 'httpx' },
  {
    name: 'aiohttp 3.14, trust_env',
    file: 'with_aiohttp.py',
    args: ['trust_env'],
    wheels: ['aiohttp==3.14.3'],
    distribution: 'aiohttp',
  },
  { name: 'websockets 17', file: 'with_websockets.py', wheels: ['websockets==17.1'], distribution: 'websockets' },
  { name: 'openai', file: 'with_openai.py', wheels: ['openai==3.22.1'], distribution: 'openai' },
  { name: 'anthropic', file: 'with_anthropic.py', wheels: ['anthropic==1.13.0'], distribution: 'anthropic' },
  {
    name: 'google-genai',
    file: 'with_google_genai.py',
    wheels: ['google-genai==2.25.0'],
    distribution: 'google-genai',
  },
  { name: 'mcp', file: 'with_mcp.py', wheels: ['mcp==2.3.0'], distribution: 'mcp' },
]

const PYTHON = '/usr/bin/python3'

export const pythonClients: readonly Client[] = libraries.map((library) => {
  const { name, file, debian, wheels, distribution, args = [], streams, fails } = library
  return {
    name,
    runtime: 'Python',
    version:
      distribution === undefined
        ? [PYTHON, '--version']
        : [PYTHON, '-c', `from importlib.metadata import version; print(version('${distribution}'))`],
    programs: { [PYTHON]: 'python3', ...(debian && { [moduleFile(debian[1])]: debian[0] }) },
    ...(wheels !== undefined && { wheels }),
    files: [`python/${file}`],
    command: [PYTHON, file, ...args],
    shows: STATUS,
    streams: streams !== false,
    ...(fails !== undefined && { fails }),
  }
})

function moduleFile(module: string): string {
  return `/usr/lib/python3/dist-packages/${module}/__init__.py`
}
