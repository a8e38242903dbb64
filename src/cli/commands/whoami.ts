import type { Invocation } from '../invocation.ts'
import { asAgent } from '../session.ts'

export async function whoami(invocation: Invocation): Promise<void> {
  const { config, output } = invocation
  const { me, health } = await asAgent(invocation, async (client) => ({
    health: await client.prove(),
    me: await client.whoami(),
  }))
  const { status: _status, version, ...encryption } = health
  output.result({ ...me, version, daemon_url: config.baseUrl, ...encryption }, () =>
    output.facts([
      ['Agent', me.identity],
      ['DID', me.did],
      ['Role', me.principal_role],
      ['Principal', me.principal_id],
      ['Vault', me.vault_id],
      ['Encryption', encryption.encryption_backend ?? encryption.effective_encryption_source],
      ['Home', me.home],
      ['Daemon', `${config.baseUrl} (${version})`],
    ]),
  )
}
