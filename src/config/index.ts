/**
 * The only reader of the environment and of the home folder: what they say comes out once, parsed, as one frozen Config.
 * Must never call the network, nor decide what a setting means for the room that asked for it.
 */
export { anchorOfDeployment, anchorOfHome } from './anchor-files.ts'
export { readClientConfig, writeClientConfig } from './client-config.ts'
export {
  folderOfHome,
  makeFolders,
  privateFolder,
  refuseForeignHome,
  refuseOtherThanFolder,
  userFolder,
} from './home.ts'
export {
  createIdentity,
  listIdentities,
  readIdentity,
  readIdentityKey,
  removeIdentity,
} from './identities.ts'
export {
  type Config,
  type LogLevel,
  loadConfig,
  parseBaseUrl,
  proxiesOfRun,
  withoutProxies,
} from './load-config.ts'
export { ensureOperatorSecret, readOperatorSecret } from './operator-secret.ts'
export {
  createPrivateFile,
  movePrivateFile,
  readPrivateFile,
  removePrivateFile,
  writePrivateFile,
} from './private-file.ts'
export { keepMemoryPrivate, overwriteFreedMemory } from './process-memory.ts'
export {
  type DaemonInfo,
  ensureBootstrapSecret,
  ensureDaemonKey,
  ensureServerConfig,
  isSealed,
  readBootstrapSecret,
  readDaemonInfo,
  readDaemonKey,
  removeDaemonInfo,
  SERVER_SCHEMA_VERSION,
  sweepHome,
  writeDaemonInfo,
} from './server-files.ts'
export { upstreamRoots, userRoots } from './user-roots.ts'
