/**
 * The channel of a run: one connection on which its proxy asks for the credential of each request and tells what became of
 * it, and on which the daemon says what has changed. What was signed once is the channel: each question is decided on what
 * is stored at its moment. Must never remember an answer.
 */
export { type Channels, openChannels } from './open-channels.ts'
