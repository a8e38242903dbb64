/**
 * Keys that other programs and files hold: where they are, whose they are, and whether they are keys at all. Reads what is the
 * user's own and changes none of it. Must never print a value, nor guess where one would go.
 */
export { type FoundVariables, findVariables } from './environment-files.ts'
export { readForeignFile } from './foreign-file.ts'
export { type ImportMode, type ImportResult, importKeys, isOf } from './key-import.ts'
export { keyProviders } from './key-providers.ts'
export { findKeys, type NamedSources, sourcesNamed } from './key-sources.ts'
export { placeVariablesOf } from './other-place.ts'
export type { Around } from './variable-places.ts'
