import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FileKeys } from '../file-keys.ts'
import { Broken } from '../structured-text.ts'
import { cargoKeys } from './cargo.ts'
import { doctlKeys } from './doctl.ts'
import { flyKeys } from './fly.ts'
import { glabKeys } from './glab.ts'
import { huggingFaceKeys } from './hugging-face.ts'
import { kubeKeys } from './kube.ts'
import { netlifyKeys } from './netlify.ts'
import { pypircKeys } from './pypirc.ts'
import { stripeKeys } from './stripe.ts'
import { vercelKeys } from './vercel.ts'
import { wranglerKeys } from './wrangler.ts'

type Parse = (text: string) => FileKeys | Broken

/** Returns what a parser makes of a text: keys in words, then what it says. */
function read(parsed: FileKeys | Broken) {
  assert.ok(!(parsed instanceof Broken))
  assert.doesNotMatch(parsed.elsewhere.join(), /CNRY/)
  const keys = parsed.keys.map(({ owner, connection, values }) =>
    [...Object.values(owner), connection, values['api_key']?.reveal()].filter(Boolean).join(' '),
  )
  return { keys, said: parsed.elsewhere }
}

describe('what the GitLab CLI keeps', () => {
  const config = (host: string, lines: string) =>
    `git_protocol: ssh\nhosts:\n    ${host}:\n${lines}\n# written by glab\n`

  it('is the token of gitlab.com, however its YAML is tagged', () => {
    const text = config(
      'gitlab.com',
      '        token: !!null glpat-CNRY\n        api_host: gitlab.com\n        user: ada',
    )
    assert.deepEqual(read(glabKeys(text)), { keys: ['gitlab glpat-CNRY'], said: [] })
  })

  it('is left where a login gave it, where it is of another GitLab, and where the keyring has it', () => {
    const login = config(
      'gitlab.com',
      '        token: CNRY\n        is_oauth2: "true"\n        oauth2_refresh_token: CNRY',
    )
    assert.match(read(glabKeys(login)).said.join(), /ends within hours.*`broker login gitlab`/)
    const own = config('git.acme.example', '        token: CNRY\n        api_host: api.acme.example:8443')
    assert.deepEqual(read(glabKeys(own)), {
      keys: [],
      said: [
        'the token of api.acme.example:8443 is for a GitLab of its own: `broker login gitlab --base-url https://api.acme.example:8443`',
      ],
    })
    assert.match(read(glabKeys(config('gitlab.com', '        user: ada'))).said.join(), /keyring/)
  })

  it('is not for gitlab.com where its address is another', () => {
    assert.deepEqual(
      read(glabKeys(config('gitlab.com', '        token: CNRY\n        api_host: evil.example'))).keys,
      [],
    )
  })
})

describe('what Cargo keeps', () => {
  it('is the token of crates.io in either place, and of no other registry', () => {
    assert.deepEqual(read(cargoKeys('[registry]\ntoken = "cioCNRY"\n[registries.acme]\ntoken = "CNRY"\n')), {
      keys: ['crates-io cioCNRY'],
      said: ['the token of "acme" is for a registry of its own, which no provider stands for'],
    })
    assert.deepEqual(read(cargoKeys('[registries.crates-io]\ntoken = "cioCNRY"\n')).keys, ['crates-io cioCNRY'])
  })
})

describe('what a .pypirc keeps', () => {
  it('is the API tokens of PyPI and TestPyPI', () => {
    const text = `[distutils]
index-servers =
    pypi
    testpypi
[pypi]
username = __token__
password = pypi-CNRY%1
[testpypi]
repository = https://test.pypi.org/legacy/
username = __token__
password = pypi-CNRY2
[acme]
repository = https://pypi.acme.example/
username = ada
password = CNRY3
`
    assert.deepEqual(read(pypircKeys(text)), {
      keys: ['pypi pypi-CNRY%1', 'testpypi pypi-CNRY2'],
      said: ['"acme" is an index that no provider stands for'],
    })
  })

  it('is no password of a person, and none for another place under the name of PyPI', () => {
    assert.match(read(pypircKeys('[pypi]\nusername = ada\npassword = CNRY\n')).said.join(), /make an API token there/)
    const elsewhere = '[pypi]\nrepository: https://evil.example/\nusername: __token__\npassword: pypi-CNRY\n'
    assert.deepEqual(read(pypircKeys(elsewhere)).keys, [])
  })
})

describe('what the Stripe CLI keeps', () => {
  const now = new Date('2026-11-22')

  it('is the key of each profile, with when it ends', () => {
    const text = `color = ''\n[default]\naccount_id = 'acct_1'\ntest_mode_api_key = 'rk_test_CNRY1'\ntest_mode_key_expires_at = '2027-01-01'
live_mode_api_key = 'rk_live_CNRY2'\n[work]\ntest_mode_api_key = 'sk_test_CNRY3'\nlive_mode_api_key = 'rk_live_CNRY4'\n`
    assert.deepEqual(read(stripeKeys(text, now)), {
      keys: [
        'stripe default rk_test_CNRY1',
        'stripe live rk_live_CNRY2',
        'stripe work sk_test_CNRY3',
        'stripe work-live rk_live_CNRY4',
      ],
      said: ['the test key of profile "default" ends on 2027-01-01: it will have to be imported again'],
    })
  })

  it('is left where it has ended, is in the keyring, or its profile has a name that no connection can have', () => {
    const text = `[default]\ntest_mode_api_key = 'rk_test_CNRY'\ntest_mode_key_expires_at = '2026-01-01'
live_mode_api_key = '*****1234'\n["two words"]\ntest_mode_api_key = 'rk_test_CNRY'\n`
    const { keys, said } = read(stripeKeys(text, now))
    assert.deepEqual(keys, [])
    assert.match(
      said.join('\n'),
      /ended on 2026-01-01: `stripe login` renews it\n.*keyring.*\n.*no connection can be called that/,
    )
  })
})

describe('what doctl keeps', () => {
  it('is the token of each context', () => {
    const text = 'access-token: dop_v1_CNRY1\nauth-contexts:\n  work: dop_v1_CNRY2\n  "a b": CNRY3\ncontext: default\n'
    assert.deepEqual(read(doctlKeys(text)), {
      keys: ['digitalocean default dop_v1_CNRY1', 'digitalocean work dop_v1_CNRY2'],
      said: [
        'context "a b" was left: no connection can be called that (`broker login digitalocean --connection a-b` stores it)',
      ],
    })
  })

  it('is none where it is for another address', () => {
    for (const url of ['https://evil.example', 'https://api.digitalocean.com@evil.example', 'nonsense'])
      assert.deepEqual(read(doctlKeys(`access-token: CNRY\napi-url: ${url}\n`)).keys, [])
    assert.deepEqual(
      read(doctlKeys('access-token: dop_v1_CNRY\napi-url: https://api.digitalocean.com\n')).keys.length,
      1,
    )
  })
})

describe('what flyctl keeps', () => {
  it('is the token of a user, and none that only flyctl can renew', () => {
    assert.deepEqual(read(flyKeys('access_token: fo1_CNRY-abc\n')), { keys: ['fly-io fo1_CNRY-abc'], said: [] })
    for (const token of ['fm2_CNRY,fm2_CNRY,fo1_CNRY', 'FlyV1 fm2_CNRY', 'fm2_CNRY'])
      assert.match(
        read(flyKeys(`access_token: ${token}\n`)).said.join(),
        /`fly tokens create org \| broker login fly-io`/,
      )
    assert.deepEqual(read(flyKeys('last_login: 2026-01-01\n')), { keys: [], said: [] })
  })
})

describe('what Hugging Face keeps', () => {
  it('is the active token, and the stored ones by their names', () => {
    assert.deepEqual(
      read(huggingFaceKeys('hf_CNRY1\n', '[mine]\nhf_token = hf_CNRY1\n[work]\nhf_token = hf_CNRY2\n')),
      {
        keys: ['huggingface default hf_CNRY1', 'huggingface work hf_CNRY2'],
        said: [],
      },
    )
    assert.deepEqual(read(huggingFaceKeys('hf_CNRY1', '')).keys, ['huggingface default hf_CNRY1'])
  })

  it('is left where a login in the browser gave it', () => {
    const stored = '[web]\nhf_token = hf_CNRY1\nrefresh_token = CNRY\nexpires_at = 1\n'
    assert.deepEqual(read(huggingFaceKeys('hf_CNRY1', stored)).keys, [])
    assert.match(read(huggingFaceKeys('hf_oauth_CNRY', '')).said.join(), /`broker login huggingface`/)
  })

  it('breaks in the file that is broken', () => {
    const broken = huggingFaceKeys('hf_CNRY', 'CNRY')
    assert.ok(broken instanceof Broken)
    assert.deepEqual([broken.file, broken.line], [1, 1])
  })
})

describe('what the command lines of Vercel, Netlify and Cloudflare keep', () => {
  it('is a token that lasts', () => {
    assert.deepEqual(read(vercelKeys('{"token": "vcp_CNRY"}')), { keys: ['vercel vcp_CNRY'], said: [] })
    const netlify = {
      userId: 'u',
      users: { u: { auth: { token: 'nfp_CNRY', github: { token: 'ghp_CNRY' } } }, v: { auth: { token: 'CNRY' } } },
    }
    assert.deepEqual(read(netlifyKeys(JSON.stringify(netlify))).keys, ['netlify nfp_CNRY'])
    assert.deepEqual(read(wranglerKeys('api_token = "CNRY"\n')).keys, ['cloudflare CNRY'])
  })

  it('is left where it is a login that ends', () => {
    const vercel = '{"token": "CNRY", "refreshToken": "CNRY", "expiresAt": 1}'
    assert.match(read(vercelKeys(vercel)).said.join(), /`broker login vercel`/)
    assert.deepEqual(read(vercelKeys(vercel)).keys, [])
    const wrangler = 'oauth_token = "CNRY"\nrefresh_token = "CNRY"\nexpiration_time = "2026-11-22T00:00:00.000Z"\n'
    assert.deepEqual(read(wranglerKeys(wrangler)).keys, [])
    assert.match(read(wranglerKeys(wrangler)).said.join(), /`broker login cloudflare`/)
  })
})

describe('what kubectl keeps', () => {
  it('is never taken, and each user is named with the cluster and why', () => {
    const text = `clusters:
- name: c
  cluster: {server: https://10.0.0.1:6443, certificate-authority-data: CNRY}
contexts:
- name: x
  context: {cluster: c, user: bot}
users:
- name: bot
  user: {token: CNRY}
- name: ada
  user: {exec: {command: aws}}
- name: root
  user: {client-certificate-data: CNRY, client-key-data: CNRY}
- name: nobody
- CNRY
`
    assert.deepEqual(read(kubeKeys(text, '')), {
      keys: [],
      said: [
        'user "bot" has a token, for a cluster that no provider stands for: define it by `broker provider new <name>`, then `broker login <name>` (10.0.0.1:6443)',
        'user "ada" asks a program for its token, which is not run',
        'user "root" shows a certificate, which is no key that is sent',
      ],
    })
  })
})

/** By parser, texts with something else in every place that is looked at. */
const OTHER_SHAPES: readonly (readonly [parse: Parse, texts: readonly string[]])[] = [
  [
    glabKeys,
    [
      'hosts: CNRY',
      'hosts: [CNRY]',
      'hosts: {gitlab.com: CNRY}',
      'hosts: {gitlab.com: {token: [CNRY]}}',
      'hosts: {gitlab.com: {token: {a: CNRY}}}',
    ],
  ],
  [
    cargoKeys,
    ['registry = "CNRY"', '[registry]\ntoken = 1', '[registries]\nacme = "CNRY"', '[[registry]]\ntoken = "CNRY"'],
  ],
  [pypircKeys, ['[pypi]\nusername = __token__', '[acme]\nusername = CNRY']],
  [stripeKeys, ['default = "CNRY"', '[default]\ntest_mode_api_key = 1', '[[default]]\ntest_mode_api_key = "CNRY"']],
  [
    doctlKeys,
    ['access-token: [CNRY]', 'auth-contexts: CNRY', 'auth-contexts: [CNRY]', 'auth-contexts: {a: {b: CNRY}}'],
  ],
  [flyKeys, ['access_token: [CNRY]', 'access_token: {a: CNRY}', 'access_token: ""']],
  [(text) => huggingFaceKeys('', text), ['[a]\nhf_token =\n', '[a]\nother = CNRY\n']],
  [vercelKeys, ['{"token": ["CNRY"]}', '{"token": ""}', '{"__proto__": {"token": "CNRY"}}']],
  [
    netlifyKeys,
    [
      '{"userId": 1}',
      '{"userId": "u", "users": ["CNRY"]}',
      '{"userId": "__proto__", "users": {}}',
      '{"userId": "u", "users": {"u": {"auth": "CNRY"}}}',
    ],
  ],
  [wranglerKeys, ['api_token = ["CNRY"]', '[api_token]\na = "CNRY"']],
  [kubeKeys, ['users: CNRY', 'users: {a: CNRY}', 'users: [{name: [CNRY], user: CNRY}]', 'users: &u [*u]']],
]

describe('a file of another shape', () => {
  for (const [parse, texts] of OTHER_SHAPES)
    for (const text of ['', ...texts])
      it(`has no key: ${JSON.stringify(text)}`, () => assert.deepEqual(read(parse(text)).keys, []))
})
