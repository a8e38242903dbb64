import { isConnectionName, type Secret } from '../protocol/index.ts'

/** One credential in the file of another program. */
export interface FileKey {
  /** Whom it is for: the provider that takes keys at a host or for a registry, or the one of a name. */
  readonly owner: { readonly host: string } | { readonly registry: string } | { readonly provider: string }
  /** The connection it becomes; the default one if absent. */
  readonly connection?: string
  /** By field of the provider. Those that it does not have are left out. */
  readonly values: Readonly<Record<string, Secret>>
}

/** Why a credential of this name in such a file does not become a connection, and how it could be one. */
export function noConnectionCalled(name: string, provider: string): string {
  const near = name.replace(/[^A-Za-z0-9._@+-]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, '')
  const other = isConnectionName(near) ? near : '<name>'
  return `was left: no connection can be called that (\`broker login ${provider} --connection ${other}\` stores it)`
}

/** What such a file says of keys. */
export interface FileKeys {
  readonly keys: readonly FileKey[]
  /** What is not taken from it and why, each to stand behind the name of the file and a colon. */
  readonly elsewhere: readonly string[]
}
