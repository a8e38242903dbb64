import type { Tables } from '../store/index.ts'
import type { RowKey } from '../vault/index.ts'

/** The columns that a MAC covers, the key first: all but what changes all the time, and what only names a thing. */
const COLUMNS = {
  principals: ['id', 'role', 'vault_id', 'created_at', 'local_owner', 'epoch'],
  accounts: ['principal_id', 'email', 'password_hash', 'created_at'],
  identities: ['id', 'handle', 'did', 'principal_id', 'created_at'],
  claims: ['token_hash', 'identity_id', 'expires_at'],
  runs: ['id', 'did', 'identity_id', 'grants', 'epoch', 'created_at', 'expires_at', 'ended_at'],
  browser_sessions: [
    'id',
    'token_hash',
    'csrf_hash',
    'principal_id',
    'identity_id',
    'browser',
    'epoch',
    'created_at',
    'expires_at',
  ],
  browser_links: ['token_hash', 'principal_id', 'identity_id', 'epoch', 'expires_at'],
} as const satisfies { readonly [Table in keyof Tables]?: readonly (keyof Tables[Table])[] }

export type SealedTable = keyof typeof COLUMNS
/** What lives as long as its principal: it is on that principal's list too. */
export type ListedTable = 'principals' | 'accounts' | 'identities'

/** The columns of a table that its MAC covers. */
export type Sealable<Table extends SealedTable> = Pick<
  Tables[Table],
  Extract<(typeof COLUMNS)[Table][number], keyof Tables[Table]>
>

/** A row of any of them, by its table. */
export type AnyRow<Table extends SealedTable = SealedTable> = {
  readonly [One in Table]: { readonly table: One; readonly row: Sealable<One> & { readonly mac: string | null } }
}[Table]

export const sealedTables = Object.keys(COLUMNS) as readonly SealedTable[]

/** Returns what a row's MAC is over: no row of another deployment, table, key or content has the same. */
export function textOf<Table extends SealedTable>(
  { deploymentId }: RowKey,
  table: Table,
  row: Sealable<Table>,
): string {
  const columns: readonly string[] = COLUMNS[table]
  const values = row as unknown as Readonly<Record<string, unknown>>
  return JSON.stringify(['broker/row/v1', deploymentId, table, ...columns.map((column) => values[column] ?? null)])
}

/** The row that a text was made of. */
export function rowOf<Table extends SealedTable>(table: Table, text: string): Sealable<Table> {
  const [, , , ...values] = JSON.parse(text) as readonly unknown[]
  const columns: readonly string[] = COLUMNS[table]
  return Object.fromEntries(columns.map((column, at) => [column, values[at]])) as unknown as Sealable<Table>
}

/** The column that tells the rows of a table apart. */
export function keyColumnOf(table: SealedTable): string {
  return COLUMNS[table][0]
}

/** Returns what a row is called on a list. */
export function nameOf(table: ListedTable, key: string): string {
  return `${table}/${key}`
}

export function keyOf<Table extends SealedTable>(table: Table, row: Sealable<Table>): string {
  return String((row as unknown as Readonly<Record<string, unknown>>)[keyColumnOf(table)])
}

/** The list of the deployment: its principals. */
export const DEPLOYMENT = 'rights'

/** What comes before a principal in the name of its list. */
export const LISTS = `${DEPLOYMENT}/`

/** The list of one principal: its own row, its account, its identities. */
export function listName(principalId: string): string {
  return `${LISTS}${principalId}`
}
