import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

/** What queries run on: the store itself, or one transaction of it. */
export type Db = Kysely<Tables>
