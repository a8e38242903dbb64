import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { type BrokerHome, onboarded } from './broker-command.ts'
import { type Caller, owner, suiteCleanup } from './daemon-under-test.ts'

const PROFILES = `[default]
aws_access_key_id = AKIAIOSFODNN7EXAMPLE
aws_secret_access_key = CNRYdefault
[work]
aws_access_key_id = AKIAI44QH8DHBEXAMPLE
aws_secret_access_key = CNRYwork
aws_session_token = CNRYtoken
`

describe('broker onboard --from aws,gcloud', { timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  let world: BrokerHome
  let ada: Caller
  before(async () => {
    world = await onboarded(cleanup)
    ada = await owner(world.daemon)
    const people = dirname(world.home)
    mkdirSync(join(people, '.aws'))
    mkdirSync(join(people, '.config/gcloud'), { recursive: true })
    writeFileSync(join(people, '.aws/credentials'), PROFILES)
    writeFileSync(join(people, '.config/gcloud/application_default_credentials.json'), serviceAccount())
  })

  const credentialOf = async (path: string) =>
    (await ada.call('GET', `/api/connections/${path}?reveal=true`)).body.credential

  async function onboard(...args: readonly string[]) {
    const { code, stdout, stderr } = await world.broker(['onboard', '--json', '--from', 'aws,gcloud', ...args])
    assert.equal(code, 0, stdout + stderr)
    assert.doesNotMatch(stdout + stderr, /CNRY|PRIVATE/)
    return JSON.parse(stdout).results.map(({ provider, connection, env_var, source, status }: Record<string, string>) =>
      [provider, connection, env_var, source, status].filter((cell) => cell !== undefined).join(' '),
    )
  }

  it('imports each profile as a connection of its name, and the key file of a service account', async () => {
    const rows = [
      'aws AWS_SECRET_ACCESS_KEY aws',
      'aws work AWS_SECRET_ACCESS_KEY aws',
      'aws work AWS_SESSION_TOKEN aws',
      'google-cloud service_account gcloud',
    ]

    assert.deepEqual(
      await onboard(),
      rows.map((row) => `${row} imported`),
    )

    assert.deepEqual(await credentialOf('aws/default'), {
      access_key_id: 'AKIAIOSFODNN7EXAMPLE',
      secret_access_key: 'CNRYdefault',
    })
    assert.equal((await credentialOf('aws/work')).session_token, 'CNRYtoken')
    assert.match((await credentialOf('google-cloud/default')).service_account, /CNRYid/)
    assert.deepEqual(
      await onboard(),
      rows.map((row) => `${row} unchanged`),
    )
  })

  it('finds the parts of an AWS key in the environment too', async () => {
    writeFileSync(
      join(world.folder, '.env'),
      'AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE\nAWS_SECRET_ACCESS_KEY=CNRYother\n',
    )

    assert.deepEqual((await onboard()).slice(0, 3), [
      'aws AWS_ACCESS_KEY_ID .env different',
      'aws AWS_SECRET_ACCESS_KEY .env different',
      'aws AWS_SECRET_ACCESS_KEY aws unchanged',
    ])
  })
})

function serviceAccount(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return JSON.stringify({
    type: 'service_account',
    project_id: 'acme',
    private_key_id: 'CNRYid',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: 'agent@acme.iam.gserviceaccount.com',
    token_uri: 'https://oauth2.googleapis.com/token',
  })
}
