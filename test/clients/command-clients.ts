import { type Client, STATUS } from './client.ts'
import { type PackageSet, packageSets } from './packages.ts'
import { FIRST } from './stream-words.ts'

type Command = Omit<Client, 'runtime' | 'shows' | 'streams'> & Partial<Client>

const PLAIN = 'https://api.openai.com/v1/models'
const EVENTS = 'https://api.openai.com/v1/events'
const AUTHORIZATION = '"Authorization: Bearer $OPENAI_API_KEY"'
const PYPI = 'https://packages.acme.example/pypi/simple/'

const CARGO_TOML = '[package]\nname = "acme-tools"\nversion = "1.0.0"\ndescription = "Tools"\nlicense = "MIT"\n'
const CARGO_CONFIG = '[registries.acme]\nindex = "https://packages.acme.example/cargo/acme-index"\n'
const KUBECONFIG = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'acme',
  contexts: [{ name: 'acme', context: { cluster: 'acme', user: 'ada' } }],
  clusters: [{ name: 'acme', cluster: { server: 'https://cluster.acme.example' } }],
  users: [{ name: 'ada', user: { token: 'broker-proxy-managed' } }],
})
const INSTALLED = /^module.exports = 42$/m

const commands: readonly Command[] = [
  {
    name: 'curl',
    version: ['curl', '--version'],
    programs: { '/usr/bin/curl': 'curl ca-certificates' },
    command: shell(
      `curl -sS -o answer -w 'status %{http_code}\\n' -H ${AUTHORIZATION} ${PLAIN}`,
      `curl -sSN -H ${AUTHORIZATION} ${EVENTS}`,
    ),
  },
  {
    name: 'wget',
    version: ['wget', '--version'],
    programs: { '/usr/bin/wget': 'wget' },
    command: shell(
      `wget -q -O answer --header ${AUTHORIZATION} ${PLAIN}`,
      'echo status 200',
      `wget -q -O - --header ${AUTHORIZATION} ${EVENTS}`,
    ),
  },
  {
    name: 'git',
    version: ['git', '--version'],
    programs: { '/usr/bin/git': 'git' },
    command: shell('git clone -q https://github.com/acme/tools.git', 'cat tools/README'),
    shows: new RegExp(FIRST),
    streams: false,
  },
  {
    name: 'gh',
    version: ['gh', '--version'],
    programs: { '/usr/bin/gh': 'gh' },
    command: ['gh', 'api', 'user'],
    shows: /"login":"ada"/,
    streams: false,
  },
  {
    name: 'aws',
    version: ['/usr/bin/aws', '--version'],
    programs: { '/usr/bin/aws': 'awscli' },
    command: shell(
      'aws --region eu-west-1 sts get-caller-identity',
      'aws --region eu-west-1 s3 cp --no-progress s3://bucket/words words',
    ),
    shows: /"Account": "123456789012"/,
    streams: false,
  },
  {
    name: 'rclone',
    version: ['rclone', 'version'],
    programs: { '/usr/bin/rclone': 'rclone' },
    command: [
      'rclone',
      '--retries',
      '1',
      '--low-level-retries',
      '1',
      'cat',
      ':s3,provider=AWS,env_auth,region=eu-west-1:bucket/words',
    ],
    shows: new RegExp(FIRST),
  },
  {
    name: 'kubectl',
    version: ['kubectl', 'version', '--client'],
    programs: { '/usr/bin/kubectl': 'kubernetes-client' },
    home: { '.kube/config': KUBECONFIG },
    command: shell('kubectl get --raw /version', 'kubectl get --raw /events'),
    shows: /"gitVersion":"v1.30.0"/,
  },
  {
    name: 'pip',
    version: ['/usr/bin/python3', '-m', 'pip', '--version'],
    programs: { '/usr/bin/pip3': 'python3-pip' },
    command: ['/usr/bin/python3', '-m', 'pip', 'download', '--no-deps', '--index-url', PYPI, 'acme-tools'],
    shows: /Saved .*acme_tools/,
    streams: false,
  },
  {
    name: 'cargo',
    version: ['/usr/bin/cargo', '--version'],
    programs: { '/usr/bin/cargo': 'cargo', '/usr/bin/git': 'git' },
    texts: { 'Cargo.toml': CARGO_TOML, 'src/lib.rs': '', '.cargo/config.toml': CARGO_CONFIG },
    command: ['/usr/bin/cargo', 'publish', '--no-verify', '--allow-dirty', '--registry', 'acme'],
    shows: /Uploading acme-tools/,
    streams: false,
  },
  ...npmInstallers(),
  {
    name: 'bun',
    ...fromNpm('bun'),
    files: ['node/fetch.mjs'],
    command: ['bun', 'fetch.mjs'],
  },
  {
    name: 'bun, WebSocket',
    ...fromNpm('bun'),
    files: ['node/web-socket.mjs'],
    command: ['bun', 'web-socket.mjs'],
    fails: 'the WebSocket of bun has no support for proxies',
  },
  {
    name: 'deno',
    ...fromNpm('deno'),
    files: ['node/fetch.mjs'],
    command: ['deno', 'run', '--allow-all', 'fetch.mjs'],
  },
  {
    name: 'Go, net/http',
    version: ['go', 'version'],
    programs: { '/usr/bin/go': 'golang-go' },
    files: ['go/main.go'],
    command: ['go', 'run', 'main.go'],
  },
  {
    name: 'Ruby, net/http',
    version: ['ruby', '--version'],
    programs: { '/usr/bin/ruby': 'ruby' },
    files: ['net_http.rb'],
    command: ['ruby', 'net_http.rb'],
  },
  {
    name: 'PHP, curl',
    version: ['php', '--version'],
    programs: { '/usr/bin/php': 'php-cli php-curl' },
    files: ['curl.php'],
    command: ['php', 'curl.php'],
  },
  {
    name: 'PHP, streams',
    version: ['php', '--version'],
    programs: { '/usr/bin/php': 'php-cli php-curl' },
    files: ['stream.php'],
    command: ['php', 'stream.php'],
    streams: false,
    fails: 'streams have no support for proxies by variables',
  },
  {
    name: 'Perl, LWP',
    version: ['perl', '-MLWP', '-e', 'print LWP->VERSION'],
    programs: { '/usr/bin/lwp-request': 'libwww-perl liblwp-protocol-https-perl' },
    files: ['lwp.pl'],
    command: ['perl', 'lwp.pl'],
  },
  {
    name: 'Perl, HTTP::Tiny',
    version: ['perl', '-MHTTP::Tiny', '-e', 'print HTTP::Tiny->VERSION'],
    programs: { '/usr/bin/lwp-request': 'libwww-perl liblwp-protocol-https-perl' },
    files: ['tiny.pl'],
    command: ['perl', 'tiny.pl'],
  },
  {
    name: 'R, libcurl',
    version: ['R', '--version'],
    programs: { '/usr/bin/Rscript': 'r-base-core' },
    files: ['base.R'],
    command: ['Rscript', 'base.R'],
    streams: false,
  },
  {
    name: 'R, curl',
    version: ['R', '--version'],
    programs: { '/usr/bin/Rscript': 'r-base-core', '/usr/lib/R/site-library/curl/DESCRIPTION': 'r-cran-curl' },
    files: ['curl.R'],
    command: ['Rscript', 'curl.R'],
    fails: 'reads no variable for authorities',
  },
  ...javaPrograms(),
  {
    name: 'Maven',
    version: ['mvn', '--version'],
    programs: { '/usr/bin/mvn': 'maven', '/usr/bin/javac': 'default-jdk-headless' },
    texts: { 'pom.xml': pomOf('https://packages.acme.example/maven'), 'settings.xml': '<settings/>' },
    command: ['mvn', '-B', '-s', 'settings.xml', '-Dmaven.repo.local=repository', 'validate'],
    shows: /BUILD SUCCESS/,
    streams: false,
  },
]

export const commandClients: readonly Client[] = commands.map((command) => ({
  runtime: '',
  shows: STATUS,
  streams: true,
  ...command,
}))

function shell(...steps: readonly string[]): readonly string[] {
  return ['sh', '-c', steps.join(' && ')]
}

function fromNpm(set: PackageSet): Pick<Client, 'version' | 'tools'> {
  const [version = ''] = Object.values(packageSets[set])
  return { version, tools: [set] }
}

function npmInstallers(): readonly Command[] {
  const manifest = JSON.stringify({ name: 'app', private: true, dependencies: { 'acme-tools': '1.0.0' } })
  const show = 'cat node_modules/acme-tools/index.js'
  const installer = (set: PackageSet, install: string, more: Readonly<Record<string, string>> = {}): Command => ({
    name: set === 'bun' ? 'bun install' : set,
    ...fromNpm(set),
    node: '24',
    texts: { 'package.json': manifest, ...more },
    command: shell(install, show),
    shows: INSTALLED,
    streams: false,
  })
  const npm = 'npm install --no-audit --no-fund'
  const registry = 'https://registry.npmjs.org'
  return [
    installer('npm 10', npm),
    installer('npm 11', npm),
    installer('npm 12', npm),
    installer('pnpm', 'pnpm install'),
    installer('yarn 1', 'yarn install', { '.yarnrc': `registry "${registry}"\n` }),
    installer('yarn 4', 'yarn install', {
      '.yarnrc.yml': `npmRegistryServer: "${registry}"\nnodeLinker: node-modules\nenableTelemetry: false\n`,
    }),
    installer('bun', 'bun install'),
  ]
}

function javaPrograms(): readonly Command[] {
  const jar = (name: string) => `/usr/share/java/${name}.jar`
  const java = (name: string, file: string, more: readonly string[] = [], debian = ''): Command => ({
    name: `Java, ${name}`,
    version: ['java', '-version'],
    programs: {
      '/usr/bin/javac': 'default-jdk-headless',
      ...Object.fromEntries(more.map((one) => [jar(one), debian])),
    },
    files: [`java/${file}`],
    command: ['java', ...(more.length > 0 ? ['-cp', more.map(jar).join(':')] : []), file],
  })
  return [
    java('HttpURLConnection', 'UrlConnection.java'),
    java('HttpClient', 'Client.java'),
    java('WebSocket', 'Socket.java'),
    java('Apache', 'Apache.java', ['httpclient', 'httpcore', 'commons-logging'], 'libhttpclient-java'),
    java('OkHttp', 'Ok.java', ['okhttp', 'okio'], 'libokhttp-java'),
  ]
}

function pomOf(repository: string): string {
  return `<project><modelVersion>4.0.0</modelVersion>
<parent><groupId>acme</groupId><artifactId>parent</artifactId><version>1.0</version><relativePath/></parent>
<artifactId>tools</artifactId><packaging>pom</packaging>
<repositories><repository><id>acme</id><url>${repository}</url></repository></repositories></project>`
}
