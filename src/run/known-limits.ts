import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { basename } from 'node:path'

/** A program, or a library, whose requests do not get their credential by the environment of `run` alone. */
export interface KnownLimit {
  /** As the documentation names it. */
  readonly name: string
  /** What does not work. */
  readonly what: string
  /** What does, one sentence. */
  readonly way: string
  /** The commands by which it is known; absent where none gives it away. */
  readonly commands?: RegExp
  /** What its first word that is no option must be; any if absent. */
  readonly verbs?: RegExp
  /** What the script that the command runs must hold; without it the command alone says enough. */
  readonly script?: RegExp
  /** What in the script mends it. */
  readonly unless?: RegExp
  /** Where it is so; everywhere if absent. */
  readonly platform?: NodeJS.Platform
}

const PYTHON = /^(?:python[\d.]*|uv|ipython[\d.]*|pytest|poetry|pdm|hatch)$/

/** In the order of the documentation. */
export const KNOWN_LIMITS: readonly KnownLimit[] = [
  {
    name: 'aiohttp (Python)',
    what: 'aiohttp knows no proxy of the environment',
    way: 'Make its session with `aiohttp.ClientSession(trust_env=True)`.',
    commands: PYTHON,
    script: /^\s*(?:import\s+(?:[\w.]+\s*,\s*)*|from\s+)aiohttp\b/m,
    unless: /trust_env\s*=\s*True/,
  },
  {
    name: 'http.client (Python)',
    what: 'http.client knows no proxy',
    way: 'Use `urllib.request`, requests or httpx.',
    commands: PYTHON,
    script: /\bHTTPS?Connection\s*\(/,
  },
  {
    name: 'urllib3 by itself (Python)',
    what: 'the `PoolManager` of urllib3 reads no proxy from the environment',
    way: 'Use requests, or `urllib3.ProxyManager(os.environ["HTTPS_PROXY"])`.',
    commands: PYTHON,
    script: /\burllib3\.PoolManager\s*\(/,
  },
  {
    name: 'websockets before version 15 (Python)',
    what: 'it has no support for proxies',
    way: 'Use version 15 or newer, which has.',
  },
  {
    name: 'tornado (Python)',
    what: 'the client of tornado knows no proxy of the environment',
    way: 'Use httpx, or its `CurlAsyncHTTPClient` with `proxy_host`.',
    commands: PYTHON,
    script: /^\s*(?:import|from)\s+tornado\.httpclient\b/m,
  },
  {
    name: 'pycurl (Python)',
    what: 'pycurl reads no authority from the environment',
    way: 'Set it: `curl.setopt(pycurl.CAINFO, os.environ["SSL_CERT_FILE"])`.',
    commands: PYTHON,
    script: /^\s*(?:import|from)\s+pycurl\b/m,
    unless: /CAINFO/,
  },
  {
    name: "PHP's streams",
    what: "PHP's streams (file_get_contents, fopen) know no proxy; its curl functions do",
    way: 'Use the curl functions, or Guzzle, which does.',
    commands: /^php[\d.]*$/,
    script: /(?:file_get_contents|fopen)\s*\(\s*["']https?:/,
  },
  {
    name: 'WebSockets of Bun',
    what: "Bun's WebSocket knows no proxy; its fetch does",
    way: 'Run the script with Node, whose WebSockets work.',
    commands: /^bunx?$/,
    script: /\bnew WebSocket\s*\(/,
  },
  {
    name: 's3cmd',
    what: 's3cmd reads no proxy and no authority from the environment',
    way: 'Use `aws s3` or rclone.',
    commands: /^s3cmd$/,
  },
  {
    name: 'svn',
    what: 'svn reads no proxy and no authority from the environment',
    way: 'Give them by `--config-option servers:global:http-proxy-host=…` (also `-port`, `-username`, `-password`) and `ssl-authority-files`, as HTTPS_PROXY and SSL_CERT_FILE have them.',
    commands: /^svn$/,
  },
  {
    name: 'aria2c',
    what: 'aria2c reads no authority from the environment',
    way: 'Give it `--ca-certificate="$SSL_CERT_FILE"`.',
    commands: /^aria2c$/,
  },
  {
    name: "R's curl package",
    what: "R's curl package reads no authority from the environment",
    way: 'Set `cainfo = Sys.getenv("SSL_CERT_FILE")` in its handle, or by `httr::config()`.',
    commands: /^R(?:script)?$/,
    script: /\b(?:library|require)\s*\(\s*["']?(?:curl|httr2?)\b|\b(?:curl|httr2?)::/,
    unless: /cainfo/,
  },
  {
    name: 'needle (Node)',
    what: 'it sends https requests to a proxy without a tunnel',
    way: 'Use fetch, axios or undici.',
  },
  {
    name: 'Node programs whose `NODE_OPTIONS` is replaced, not added to',
    what: 'they start without the preload that leads them through the proxy',
    way: 'Add to it (`NODE_OPTIONS="$NODE_OPTIONS --max-old-space-size=4096"`), or set `NODE_USE_ENV_PROXY=1` for fetch and the global agents of Node 22.21, 24.5 and newer.',
  },
  {
    name: "checks by a request's own `lookup`",
    what: 'a Node program behind any proxy resolves no names: filters of addresses that are built into its look-up see none',
    way: "The proxy refuses the daemon's own and the clouds' metadata addresses; filter by the host's name.",
  },
  {
    name: 'docker, podman',
    what: 'images are pulled and pushed by a service that is no child of `run`',
    way: 'See docs/registries.md.',
    commands: /^(?:docker|podman|nerdctl)$/,
    verbs: /^(?:pull|push|build|buildx|run|create|compose|login)$/,
  },
  {
    name: 'nghttp, h2load',
    what: 'it knows no proxy',
    way: 'Use `curl --http2-prior-knowledge`, which does.',
    commands: /^(?:nghttp|h2load)$/,
  },
  {
    name: 'Firefox',
    what: 'Firefox reads neither proxy credentials nor an authority from the environment',
    way: 'Use a browser built on Chromium, which `run` prepares.',
    commands: /^firefox(?:-esr)?$/,
  },
  {
    name: 'Java, where the system is not Linux',
    what: 'Java has no way to send proxy credentials, and this system does not tell whose a connection is: it is left alone',
    way: 'Run it on Linux.',
    commands: /^(?:java|mvnw?|gradlew?|sbt|kotlin|scala|clj|lein)$/,
    platform: 'darwin',
  },
  {
    name: 'Go programs on macOS',
    what: 'programs in Go trust the keychain of the system alone',
    way: 'Run it on Linux.',
    commands: /^(?:gh|kubectl|helm|terraform|tofu|rclone|hugo|go)$/,
    platform: 'darwin',
  },
  {
    name: 'clients that pin certificates of a connected host',
    what: 'they take no other certificate',
    way: 'Switch pinning off where the client can, or leave that provider out with `--only`.',
  },
]

const LARGEST_SCRIPT = 256 * 1024

/** Returns what is known of this command before it starts, each once. */
export function limitsOf(
  command: readonly [string, ...string[]],
  platform: NodeJS.Platform = process.platform,
): readonly KnownLimit[] {
  const { program, args } = programOf(command)
  const verb = args.find((argument) => !argument.startsWith('-')) ?? ''
  const candidates = KNOWN_LIMITS.filter(
    (limit) =>
      limit.commands?.test(program) && (limit.verbs?.test(verb) ?? true) && (limit.platform ?? platform) === platform,
  )
  if (candidates.every(({ script }) => script === undefined)) return candidates
  const text = scriptOf(args)
  return candidates.filter(({ script, unless }) => (script?.test(text) ?? true) && !unless?.test(text))
}

/** Programs that start the one behind them, and how many words of their own come first, options and settings apart. */
const STARTERS: Readonly<Record<string, number>> = { env: 0, nice: 0, nohup: 0, setsid: 0, time: 0, timeout: 1 }

interface Program {
  readonly program: string
  readonly args: readonly string[]
}

/** The program itself, and where that is a script which names its interpreter, that one. */
function programOf([file, ...args]: readonly string[]): Program {
  const program = basename(file ?? '')
  const own = STARTERS[program]
  if (own !== undefined) {
    const words = args.filter((word) => !word.startsWith('-') && !/^\w+=/.test(word)).slice(own)
    return words.length === 0 ? { program, args } : programOf(args.slice(args.indexOf(words[0] ?? '')))
  }
  const [, interpreter, first = ''] = /^#!\s*(\S+)(?:[ \t]+(\S+))?/.exec(beginningOf(file ?? '', 256)) ?? []
  if (interpreter === undefined) return { program, args }
  return { program: basename(basename(interpreter) === 'env' ? first : interpreter), args: [file ?? '', ...args] }
}

/** The first argument that is a file of text, or what `-c` and `-e` say. */
function scriptOf(args: readonly string[]): string {
  const option = args.findIndex((argument) => /^(?:-c|-e|-r|--eval)$/.test(argument))
  if (option !== -1) return args[option + 1] ?? ''
  const named = args.find((argument) => !argument.startsWith('-'))
  return named === undefined ? '' : beginningOf(named, LARGEST_SCRIPT)
}

function beginningOf(path: string, most: number): string {
  try {
    if (!statSync(path).isFile()) return ''
    const descriptor = openSync(path, 'r')
    try {
      const bytes = Buffer.alloc(most)
      return bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, most, 0))
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return ''
  }
}
