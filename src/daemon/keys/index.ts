/**
 * What people do to the keys of the vault: lock it and unlock it, each with its event, and the lock of a daemon that nobody
 * uses. Must never see a credential, nor keep a passphrase.
 */
export { type Keys, openKeys } from './open-keys.ts'
