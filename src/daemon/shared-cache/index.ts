/**
 * What daemons keep for each other for a while, and tell each other: Redis, which may be slow, empty or away at any moment.
 * Must never be the only place of anything that is not to be lost, decide what may happen once, or make a request wait for long.
 */
export { openSharedCache, type SharedCache } from './open-shared-cache.ts'
