/**
 * Copies of a whole deployment: a backup in one encrypted file, what is made of one, and the move from one kind of store to
 * another. Must never write anything of a store in the clear, nor take away what is there before the next is whole.
 */

export { type MovedTables, moveStore } from './move-store.ts'
export { type BackupContent, readBackup, type Unlocked } from './read-backup.ts'
export { type BackupPlan, type BackupSummary, writeBackup } from './write-backup.ts'
