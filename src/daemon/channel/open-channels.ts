import type { Duplex } from 'node:stream'
import { type Actor, BrokerError, CHANNEL_PROTOCOL } from '../../protocol/index.ts'
import type { Principals } from '../principals/index.ts'
import { Channel, type ChannelRooms } from './channel.ts'

/** The channels of the runs that this daemon has. */
export interface Channels {
  /**
   * Takes over the connection of a run that has signed for it.
   * @param head bytes that came behind the request
   * @throws BrokerError NotFoundError where the signer is not that run
   */
  accept(actor: Actor, runId: string, connection: { readonly socket: Duplex; readonly head: Buffer }): Promise<void>
  /** Tells the runs of a principal that what they may use has changed. */
  changed(principalId: string): void
  /** Answers what was asked, and ends all of them. */
  close(): Promise<void>
}

export interface ChannelsOptions extends ChannelRooms {
  readonly principals: Pick<Principals, 'ofRun' | 'noteChannels' | 'endLostRuns'>
  /** An error that nobody waits for. */
  readonly onFailure: (error: unknown) => void
  /** Between two beats, in milliseconds. */
  readonly beatMs?: number
  /** Between two looks for runs that were lost, in milliseconds. */
  readonly lookMs?: number
  /** Before the first such look: the runs of before meet this daemon again meanwhile. */
  readonly graceMs?: number
}

const SWITCHED = `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${CHANNEL_PROTOCOL}\r\n\r\n`

export function openChannels(options: ChannelsOptions): Channels {
  const { principals, onFailure, beatMs = 10_000, lookMs = 5_000, graceMs = 30_000 } = options
  const open = new Set<Channel>()
  const held = () => new Set([...open].map(({ runId }) => runId))
  const unheard = (work: Promise<void>) => void work.catch(onFailure)
  let isClosing = false

  const beats = setInterval(() => {
    for (const channel of open) channel.beat()
    unheard(principals.noteChannels([...held()]))
  }, beatMs).unref()
  let looks: NodeJS.Timeout | undefined
  const grace = setTimeout(() => {
    looks = setInterval(() => unheard(principals.endLostRuns(held())), lookMs).unref()
  }, graceMs).unref()

  return {
    async accept(actor, runId, { socket, head }) {
      if (actor.run?.id !== runId) throw new BrokerError('NotFoundError', 'There is no such run')
      if (isClosing) throw new BrokerError('DaemonUnavailableError', 'The daemon is stopping', { retryAfter: 1 })
      await principals.noteChannels([runId])
      socket.write(SWITCHED)
      const channel = new Channel(socket, actor, options)
      open.add(channel)
      socket.once('close', () => {
        open.delete(channel)
        // From now on it lives without one.
        if (!isClosing) unheard(principals.noteChannels([runId]))
      })
      channel.begin(head)
    },
    changed(principalId) {
      for (const channel of open) if (channel.principalId === principalId) channel.changed()
    },
    async close() {
      isClosing = true
      clearInterval(beats)
      clearTimeout(grace)
      clearInterval(looks)
      await Promise.all([...open].map((channel) => channel.close()))
    },
  }
}
