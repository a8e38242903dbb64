import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { awsKeys } from './aws-files.ts'
import { Broken } from './structured-text.ts'

const KEY = 'aws_access_key_id = AKIACNRY1\naws_secret_access_key = CNRY/s1+=\n'
const OTHER = 'aws_access_key_id=AKIACNRY2\naws_secret_access_key=CNRYs2\n'

describe('the files of the AWS command line', () => {
  test('give each profile as a connection of its name, the default one first', () => {
    assert.deepEqual(found(`[work]\n${OTHER}[default]\n${KEY}`), [
      'default: AKIACNRY1 CNRY/s1+=',
      'work: AKIACNRY2 CNRYs2',
    ])
  })

  test('give the key of the credentials file where the config file has another', () => {
    assert.deepEqual(found(`[default]\n${KEY}`, `[default]\nregion=us-east-1\n${OTHER}[profile work]\n${OTHER}`), [
      'default: AKIACNRY1 CNRY/s1+=',
      'work: AKIACNRY2 CNRYs2',
    ])
  })

  test('are read with comments, spaces, settings below settings, upper case and Windows line ends', () => {
    const text = `# mine\r\n[default] # home\r\nAWS_ACCESS_KEY_ID = AKIACNRY1 # old\r\ns3 =\r\n  aws_secret_access_key = CNRYno\r\naws_secret_access_key=CNRYs1\r\n; end\r\n`
    assert.deepEqual(found(text), ['default: AKIACNRY1 CNRYs1'])
    assert.deepEqual(found('', `[profile "my work"]\nregion = x\n[profile "w"]\n${OTHER}`), ['w: AKIACNRY2 CNRYs2'])
  })

  test('give a temporary key with its token, and say that it ends', () => {
    const { keys, elsewhere } = parsed(`[default]\n${KEY}aws_session_token = CNRYt\n`)
    assert.deepEqual(shown(keys), ['default: AKIACNRY1 CNRY/s1+= CNRYt'])
    assert.match(elsewhere.join(), /the key of profile "default" is a temporary one/)
  })

  test('say how a profile without a key gets one, and which name no connection can have', () => {
    const config = `[profile sso]\nsso_session = x\n[sso-session x]\nsso_region = y\n[profile role]\nrole_arn = a\nsource_profile = b\n[profile asks]\ncredential_process = /bin/true\n[profile plain]\nregion = z\n[profile a b]\n${OTHER}`
    const { keys, elsewhere } = parsed(`[default]\n${KEY}`, config)
    assert.equal(keys.length, 1)
    assert.deepEqual(elsewhere, [
      'profile "sso" has no key of its own, it comes by single sign-on',
      'profile "role" has no key of its own, it takes a role',
      'profile "asks" has no key of its own, it asks a program, which is not run',
      'profile "a b" was left: no connection can be called that (`broker login aws --connection a-b` stores it)',
    ])
  })

  test('name a profile with a space in its name, whichever file it is in and however it is quoted', () => {
    const why = (name: string, near: string) =>
      `profile "${name}" was left: no connection can be called that (\`broker login aws --connection ${near}\` stores it)`
    for (const [credentials, config] of [
      [`[my work]\n${OTHER}`, ''],
      [`["my work"]\n${OTHER}`, ''],
      [`[profile my work]\n${OTHER}`, ''],
      ['', `[profile my work]\n${OTHER}`],
      ['', `[profile "my work"]\n${OTHER}`],
      ['', `[my work]\n${OTHER}`],
      [`[my work]\n${OTHER}`, '[profile my work]\nregion = x\n[services x]\ns3 =\n'],
    ] as const)
      assert.deepEqual(parsed(credentials, config).elsewhere, [why('my work', 'my-work')], credentials + config)
    assert.deepEqual(parsed(`[ü]\n${OTHER}`).elsewhere, [why('ü', '<name>')])
  })

  test('name a profile that has half a key', () => {
    const [id = '', secret = ''] = KEY.split('\n')
    const half = (missing: string) => [
      `profile "default" has half a key: ${missing} is not there, or in the other file`,
    ]
    assert.deepEqual(parsed(`[default]\n${id}\n`).elsewhere, half('aws_secret_access_key'))
    assert.deepEqual(parsed(`[default]\n${secret}\n`).elsewhere, half('aws_access_key_id'))
  })

  test('give no half of a key, nor two halves of two files', () => {
    const [id, secret] = KEY.split('\n')
    assert.deepEqual(found(`[default]\n${id}\n`, `[default]\n${secret}\n`), [])
    assert.deepEqual(found(`[default]\n${id}\naws_secret_access_key =\n`), [])
  })

  for (const [what, text, line] of [
    ['a setting of no profile', KEY, 1],
    ['a line of no meaning', `[default]\n${KEY}CNRY\n`, 4],
    ['a section that is not closed', `\n[default\n${KEY}`, 2],
  ] as const) {
    test(`are not understood with ${what}, and which of them in which line`, () => {
      assert.deepEqual(awsKeys(text, ''), new Broken(line))
      assert.deepEqual(awsKeys('', text), new Broken(line, 1))
    })
  }

  test('cannot reach the prototype of objects, and are read in time whatever is in them', { timeout: 5_000 }, () => {
    assert.deepEqual(found(`[__proto__]\n${KEY}[constructor]\n${OTHER}`), [])
    assert.equal(parsed(`[profile ${' '.repeat(500_000)}x] ${' '.repeat(400_000)}`).keys.length, 0)
    assert.deepEqual(awsKeys(`[profile ${' '.repeat(500_000)}`, ''), new Broken(1))
    assert.equal(parsed(`[default]\na=${' '.repeat(500_000)}#`).keys.length, 0)
  })
})

function parsed(credentials: string, config = '') {
  const read = awsKeys(credentials, config)
  assert.ok(!(read instanceof Broken))
  return read
}

function found(credentials: string, config = ''): readonly string[] {
  return shown(parsed(credentials, config).keys)
}

function shown(keys: ReturnType<typeof parsed>['keys']): readonly string[] {
  return keys.map(({ connection, values }) =>
    [`${connection}:`, ...Object.values(values).map((value) => value.reveal())].join(' '),
  )
}
