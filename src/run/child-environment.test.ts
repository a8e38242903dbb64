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
    proxy: { port: 4711, openPort: undefined, username: 'broker', password: new Secret('CNRYrun') },
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

  for (const name of ['SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE', 'GIT_SSL_CAINFO']) {
    assert.equal(environment[name], '/run/bundle.pem')
  }
  for (const name of [
    'HTTPLIB2_CA_CERTS',
    'PERL_LWP_SSL_CA_FILE',
    'PIP_CERT',
    'CARGO_HTTP_CAINFO',
    'npm_config_cafile',
    'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH',
  ]) {
    assert.equal(environment[name], '/run/bundle.pem')
  }
  assert.equal(environment['NODE_EXTRA_CA_CERTS'], '/run/authority.pem')
  assert.equal(environment['DENO_CERT'], '/run/authority.pem')
  assert.equal(environment['WGETRC'], '/run/wgetrc')
  assert.equal(environment['PERL_LWP_ENV_PROXY'], '1')
  assert.equal(environment['PHP_INI_SCAN_DIR'], ':/run')
})

test('a bundle that breaks one client where it mends another is replaced only where the user has it', () => {
  const names = ['AWS_CA_BUNDLE', 'CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE', 'NIX_SSL_CERT_FILE']
  const inherited = Object.fromEntries(names.map((name) => [name, '/mine.pem']))
  const [without, replaced] = [surroundings(), surroundings({ inherited })].map(
    (one) => childEnvironment(one).environment,
  )
  for (const name of names) {
    assert.equal(without?.[name], undefined)
    assert.equal(replaced?.[name], '/run/bundle.pem')
  }
})

test('Java goes to the listener without credentials, and is left alone where there is none', () => {
  const proxy = { ...surroundings().proxy, openPort: 4712 }
  const inherited = { NO_PROXY: '.corp.test,10.0.0.0/8,db.test:5432' }
  const { environment } = childEnvironment(surroundings({ proxy, inherited }))
  assert.match(environment['JAVA_TOOL_OPTIONS'] ?? '', /^-Dhttps\.proxyHost=127\.0\.0\.1 -Dhttps\.proxyPort=4712 /)
  assert.match(
    environment['JAVA_TOOL_OPTIONS'] ?? '',
    / -Dhttp\.nonProxyHosts="\*\.corp\.test\|localhost\|\*\.localhost\|127\.0\.0\.1\|\[::1\]"/,
  )
  assert.equal(childEnvironment(surroundings()).environment['JAVA_TOOL_OPTIONS'], undefined)
})

test('a run within the run learns what was there before, but no key and no proxy', () => {
  const inherited = { ACME_KEY: 'CNRYreal', SSL_CERT_FILE: '/mine', HTTPS_PROXY: 'http://ada:CNRYcorp@proxy.test' }
  const { changes } = childEnvironment(surroundings({ inherited, placeholders: { ACME_KEY: 'broker-proxy-managed' } }))
  assert.deepEqual(changes['SSL_CERT_FILE'], { set: '/run/bundle.pem', before: '/mine' })
  assert.deepEqual(changes['ACME_KEY'], { set: 'broker-proxy-managed', before: null })
  assert.doesNotMatch(JSON.stringify(changes), /CNRY/)
})

test('options of the user are kept in front of ours', () => {
  const inherited = { NODE_OPTIONS: '--max-old-space-size=99', JAVA_TOOL_OPTIONS: '-Xmx9m', PHP_INI_SCAN_DIR: '/php' }
  const { environment } = childEnvironment(
    surroundings({ inherited, proxy: { ...surroundings().proxy, openPort: 4712 } }),
  )

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
