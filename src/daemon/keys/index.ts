/**
 * What people do to the keys of the vault: lock and unlock, rotate and rekey, each with its event; and the lock of a daemon
 * that nobody uses. Must never see a credential, nor keep a passphrase.
 */
export { type Keys, openKeys } from './open-keys.ts'
