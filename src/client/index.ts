/**
 * The daemon's API as typed methods, for the command line, the proxy and programs that import it. It proves who calls
 * by signing each request, and has the daemon prove itself before anything else is sent.
 * Must never read the environment or the home, retry what may not be repeated, or keep an answer that holds a credential.
 */
export type { DaemonChannel } from './daemon-channel.ts'
export { expectDaemon, pinDaemon } from './daemon-check.ts'
export {
  DaemonClient,
  isNothingListening,
  type Signer,
} from './daemon-client.ts'
export type { Trust } from './transport.ts'
