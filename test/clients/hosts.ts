/** The names that clients dial: what lets a request in there, and what it is answered. */
import { createHash } from 'node:crypto'
import { type AccessKey, takeRequest } from '../aws-service.ts'
import { crateRegistry } from '../crate-registry.ts'
import { gitService, makeRepository } from '../git-server.ts'
import { pathOf } from '../named-server.ts'
import { makeWheel, pythonIndex, type Wheel } from '../python-index.ts'
import { markedSecret } from '../search-for-secret.ts'
import { mcpEndpoint } from './mcp-endpoint.ts'
import { anthropic, gemini, openai, sendJson } from './model-apis.ts'
import { speakByWebSocket } from './model-socket.ts'
import { packageRegistry } from './package-registry.ts'
import type { Host } from './service.ts'
import { FIRST, LAST } from './stream-words.ts'

const PROVIDERS = ['openai', 'anthropic', 'google-gemini', 'github', 'stripe', 'npm', 'aws', 'acme'] as const
type Provider = (typeof PROVIDERS)[number]

/** A key, and what is piped into `broker login` for it. */
interface Key {
  readonly secret: string
  readonly input: string
}

export type Keys = Readonly<Record<Provider, Key>>

/** Prefixes that the providers' patterns want. */
const PREFIXES: Readonly<Record<Exclude<Provider, 'aws'>, string>> = {
  openai: 'sk-',
  anthropic: 'sk-ant-',
  'google-gemini': 'AIza',
  github: 'ghp_',
  stripe: 'sk_test_',
  npm: 'npm_',
  acme: '',
}
const ACCESS_KEY_ID = 'AKIAEXAMPLE'

export function newKeys(): Keys {
  const plain = Object.entries(PREFIXES).map(([provider, prefix]) => {
    const secret = markedSecret(prefix)
    return [provider, { secret, input: secret }] as const
  })
  const secret = markedSecret()
  const aws = { secret, input: JSON.stringify({ access_key_id: ACCESS_KEY_ID, secret_access_key: secret }) }
  return { ...(Object.fromEntries(plain) as Omit<Keys, 'aws'>), aws }
}

const AWS_HOSTS = ['sts', 'sts.eu-west-1', 's3.eu-west-1', 'bucket.s3.eu-west-1'].map((name) => `${name}.amazonaws.com`)
export const HOSTS = [
  'api.openai.com',
  'api.anthropic.com',
  'generativelanguage.googleapis.com',
  'api.github.com',
  'github.com',
  'api.stripe.com',
  'registry.npmjs.org',
  'packages.acme.example',
  'mcp.acme.example',
  'cluster.acme.example',
  ...AWS_HOSTS,
]

/** All of them, as new: what was published to one of them before is not there. `root` is an empty folder for repositories. */
export function hostsWith(keys: Keys, root: string): Readonly<Record<string, Host>> {
  const bearer = (provider: Provider) => withHeader('authorization', `Bearer ${keys[provider].secret}`)
  const basic = Buffer.from(`x-access-token:${keys.github.secret}`).toString('base64')
  makeRepository(root, 'acme/tools.git', { README: `${FIRST}\n` })
  return {
    'api.openai.com': { letsIn: bearer('openai'), answer: openai, upgrade: speakByWebSocket },
    'api.anthropic.com': { letsIn: withHeader('x-api-key', keys.anthropic.secret), answer: anthropic },
    'generativelanguage.googleapis.com': {
      letsIn: withHeader('x-goog-api-key', keys['google-gemini'].secret),
      answer: gemini,
    },
    'api.github.com': { letsIn: bearer('github'), answer: (_, response) => sendJson(response, { login: 'ada' }) },
    'github.com': { letsIn: withHeader('authorization', `Basic ${basic}`), answer: repositories(root) },
    'api.stripe.com': {
      letsIn: bearer('stripe'),
      answer: (_, response) => sendJson(response, { object: 'balance', available: [], pending: [], livemode: false }),
    },
    'registry.npmjs.org': { letsIn: bearer('npm'), answer: packageRegistry() },
    'packages.acme.example': { letsIn: bearer('acme'), answer: packages(root) },
    'mcp.acme.example': { letsIn: bearer('acme'), answer: mcpEndpoint },
    'cluster.acme.example': { letsIn: bearer('acme'), answer: cluster },
    ...Object.fromEntries(AWS_HOSTS.map((host) => [host, awsHost(keys.aws.secret)])),
  }
}

function withHeader(name: string, value: string): Host['letsIn'] {
  return ({ headers }) => headers[name] === value
}

/** Keys are never sent there: the service judges the signature. */
function awsHost(secretAccessKey: string): Host {
  const key: AccessKey = { accessKeyId: ACCESS_KEY_ID, secretAccessKey }
  return { letsIn: async (request) => (await takeRequest(request, key)).problem === undefined, answer: cloud }
}

const IDENTITY = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
<Arn>arn:aws:iam::123456789012:user/ada</Arn><UserId>ADA</UserId><Account>123456789012</Account>
</GetCallerIdentityResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></GetCallerIdentityResponse>`
const LISTING = `<ListBucketResult><Name>bucket</Name><IsTruncated>false</IsTruncated>
<Contents><Key>words</Key><Size>${FIRST.length + LAST.length + 2}</Size><LastModified>2020-01-01T00:00:00.000Z</LastModified></Contents>
</ListBucketResult>`
const OBJECT = `${FIRST}\n${LAST}\n`

/** The identity service, and a bucket in which every name has the same object. */
const cloud: Host['answer'] = async (request, response, stream) => {
  if (request.headers.host?.startsWith('sts.')) {
    return response.writeHead(200, { 'content-type': 'text/xml' }).end(IDENTITY)
  }
  if (pathOf(request.url) === '/') return response.writeHead(200, { 'content-type': 'application/xml' }).end(LISTING)
  const etag = `"${createHash('md5').update(OBJECT).digest('hex')}"`
  response.writeHead(200, {
    'content-type': 'text/plain',
    'content-length': OBJECT.length,
    'last-modified': 'Wed, 01 Jan 2020 00:00:00 GMT',
    etag,
  })
  if (request.method === 'HEAD') return response.end()
  response.write(`${FIRST}\n`)
  await stream
  response.end(`${LAST}\n`)
}

/** One repository, and no other. */
function repositories(root: string): Host['answer'] {
  const git = gitService(root)
  return (request, response) => {
    if (pathOf(request.url).startsWith('/acme/tools.git/')) git(request, response)
    else response.writeHead(404).end()
  }
}

/** Registries of an own host: for pip, cargo and Maven. */
function packages(root: string): Host['answer'] {
  const base = 'https://packages.acme.example/'
  const index = pythonIndex(`${base}pypi/`, wheel())
  const crates = crateRegistry(`${base}cargo/`, root, 'cargo/acme-index')
  return (request, response) => {
    const path = pathOf(request.url)
    if (path.startsWith('/pypi/')) index(request, response)
    else if (path.startsWith('/cargo/')) crates.service(request, response)
    else if (path === '/maven/acme/parent/1.0/parent-1.0.pom') response.end(PARENT)
    else response.writeHead(404).end()
  }
}

const PARENT = `<project><modelVersion>4.0.0</modelVersion>
<groupId>acme</groupId><artifactId>parent</artifactId><version>1.0</version><packaging>pom</packaging></project>`

let madeWheel: Wheel | undefined

function wheel(): Wheel {
  madeWheel ??= makeWheel('acme_tools')
  return madeWheel
}

/** A cluster: its version, and events below `/events`. */
const cluster: Host['answer'] = async (request, response, stream) => {
  if (pathOf(request.url) !== '/events') return sendJson(response, { gitVersion: 'v1.30.0' })
  response.writeHead(200, { 'content-type': 'application/json' }).write(`${FIRST}\n`)
  await stream
  response.end(`${LAST}\n`)
}
