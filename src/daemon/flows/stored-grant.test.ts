import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Secret } from '../../protocol/index.ts'
import { credentialOf, refreshedGrant, type StoredGrant, storedGrant } from './stored-grant.ts'

const grant: StoredGrant = {
  accessToken: new Secret('at-CNRY1'),
  refreshToken: new Secret('rt-CNRY1'),
  client: { id: 'app', auth: 'client_secret_basic', secret: new Secret('cs-CNRY1') },
  server: {
    issuer: 'https://auth.example',
    tokenUrl: 'https://auth.example/token',
    refreshUrl: 'https://auth.example/refresh',
    revocationUrl: 'https://auth.example/revoke',
    resource: 'https://mcp.example/mcp',
    isPrivate: true,
  },
}

it('a grant is kept whole as a credential, and read back', () => {
  const read = storedGrant(credentialOf(grant))
  assert.deepEqual(revealed(read), revealed(grant))
  assert.deepEqual(revealed(storedGrant(credentialOf(bare))), revealed(bare))
})

const bare: StoredGrant = { accessToken: new Secret('at-CNRY1'), client: { id: 'app', auth: 'none' }, server: {} }

it('a refresh replaces the access token, and the refresh token only by another', () => {
  const accessToken = new Secret('at-CNRY2')
  const kept = refreshedGrant(grant, { accessToken, scopes: [] })
  const rotated = refreshedGrant(grant, { accessToken, refreshToken: new Secret('rt-CNRY2'), scopes: [] })
  assert.equal(kept.accessToken.reveal(), 'at-CNRY2')
  assert.equal(kept.refreshToken?.reveal(), 'rt-CNRY1')
  assert.equal(rotated.refreshToken?.reveal(), 'rt-CNRY2')
})

it('what no OAuth login made is no grant', () => {
  assert.throws(() => storedGrant({ api_key: new Secret('sk-CNRY1') }), { name: 'CredentialMissingError' })
})

/** The same with its secrets in the open: two secrets are alike to a comparison. */
function revealed({ accessToken, refreshToken, client, server }: StoredGrant) {
  const { secret, ...known } = client
  return [accessToken.reveal(), refreshToken?.reveal(), secret?.reveal(), known, server]
}
