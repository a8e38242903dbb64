import { Secret } from '../../protocol/index.ts'
import type { Keys } from '../keys/index.ts'
import type { Handlers } from './route.ts'

export function vaultHandlers(keys: Keys) {
  return {
    'GET /api/vault/status': async ({ who }) => ({ body: await keys.status(who.vaultId) }),
    'POST /api/vault/lock': async ({ who }) => {
      await keys.lock(who)
      return { body: await keys.status(who.vaultId) }
    },
    'POST /api/vault/rotate': async ({ who }) => ({ body: { status: 'ok' as const, term: await keys.rotate(who) } }),
    'POST /api/vault/rekey': async ({ who, body: { to, passphrase, master_key: masterKey } }) => {
      await keys.rekey(who, to, {
        ...(passphrase !== undefined && { passphrase: new Secret(passphrase) }),
        ...(masterKey !== undefined && { masterKey: new Secret(masterKey) }),
      })
      return { body: { status: 'ok' as const, source: to } }
    },
    'POST /api/vault/unlock': async ({ body: { passphrase }, headers: { operator } }) => {
      await keys.unlock({
        ...(passphrase !== undefined && { passphrase: new Secret(passphrase) }),
        ...(operator && { operator }),
      })
      return { body: { status: 'ok' as const } }
    },
  } satisfies Partial<Handlers>
}
