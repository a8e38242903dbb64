/**
 * The one door by which a secret leaves the daemon: what leaves has a number, and is in the log before it has left.
 * Must never answer where it could not be recorded, nor decide which credential it is.
 */
export { openReleases, type Releases } from './open-releases.ts'
