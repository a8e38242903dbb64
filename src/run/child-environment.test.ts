import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../protocol/index.ts'
import { type ChildSurroundings, childEnvironment } from './child-environment.ts'

const TRUST = {
  authority: '/run/authority.pem',
  bundle: '/run/bundle.pem',
  trustStore: '/run/trust.p12',
  wgetrc: '/run/wgetrc',
  phpIni: '/run',
}

function surroundings(more: Partial<ChildSurroundings> = {}): ChildSurroundings {
  return {
    inherited: { PATH: '/bin' },
    proxy: { port: 4711, username: 'broker', password: new Secret('CNRYrun') },
    trust: TRUST,
    placeholders: {},
    routedHosts: ['api.example.com'],
    ...more,
  }
}

test('every client is led through the proxy with the credentials of the run', () => {
  const { environment } = childEnvironment(surroundings())

  for (const name of ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy', 'ALL_PROXY', 'all_proxy']) {
    assert.equal(environment[name], 'http://broker:CNRYrun@127.0.0.1:4711')
  }
  assert.equal(environment['PATH'], '/bin')
})

test('Node is not told to use the proxy by itself, unless the user tells it so', () => {
  const withIt = childEnvironment(surroundings({ inherited: { NODE_USE_ENV_PROXY: '1' } }))

  assert.equal(childEnvironment(surroundings()).environment['NODE_USE_ENV_PROXY'], undefined)
  assert.equal(withIt.environment['NODE_USE_ENV_PROXY'], '1')
})

test('what replaces the roots names the bundle, what adds to them the authority', () => {
  const { environment } = childEnvironment(surroundings())

  for (const name of ['SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE', 'AWS_CA_BUNDLE', 'GIT_SSL_CAINFO']) {
    assert.equal(environment[name], '/run/bundle.pem')
  }
  for (const name of ['PIP_CERT', 'CARGO_HTTP_CAINFO', 'npm_config_cafile', 'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH']) {
    assert.equal(environment[name], '/run/bundle.pem')
  }
  assert.equal(environment['NODE_EXTRA_CA_CERTS'], '/run/authority.pem')
  assert.equal(environment['DENO_CERT'], '/run/authority.pem')
  assert.equal(environment['WGETRC'], '/run/wgetrc')
  assert.equal(environment['PHP_INI_SCAN_DIR'], ':/run')
})

test('options of the user are kept in front of ours', () => {
  const inherited = { NODE_OPTIONS: '--max-old-space-size=99', JAVA_TOOL_OPTIONS: '-Xmx9m', PHP_INI_SCAN_DIR: '/php' }
  const { environment } = childEnvironment(surroundings({ inherited }))

  assert.match(environment['NODE_OPTIONS'] ?? '', /^--max-old-space-size=99 --require ".*preload\.cjs"$/)
  assert.match(environment['JAVA_TOOL_OPTIONS'] ?? '', /^-Xmx9m -Dhttps\.proxyHost=127\.0\.0\.1 /)
  assert.equal(environment['PHP_INI_SCAN_DIR'], '/php:/run')
})

test('where nothing is intercepted no tool is told to trust anything', () => {
  const { environment } = childEnvironment(surroundings({ trust: undefined, inherited: { SSL_CERT_FILE: '/mine' } }))

  assert.equal(environment['SSL_CERT_FILE'], '/mine')
  assert.equal(environment['NODE_EXTRA_CA_CERTS'], undefined)
  assert.equal(environment['JAVA_TOOL_OPTIONS'], undefined)
})

test('a placeholder stands in place of a key the user had set', () => {
  const { environment } = childEnvironment(
    surroundings({ inherited: { ACME_KEY: 'CNRYreal' }, placeholders: { ACME_KEY: 'broker-proxy-managed' } }),
  )

  assert.equal(environment['ACME_KEY'], 'broker-proxy-managed')
})
