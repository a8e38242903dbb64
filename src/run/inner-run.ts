import { mkdtempSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { SigningKey } from '../identity/index.ts'
import { BrokerError } from '../protocol/index.ts'
import type { Run, StartRun } from '../schemas/index.ts'
import { readJsonLines, writeJsonLine } from './json-lines.ts'
import {
  type FromProxy,
  failureOf,
  outcomeOf,
  type RunKey,
  type StartProxy,
  type ToOuterRun,
  type ToProxy,
} from './messages.ts'
import { withinOf } from './outer-run.ts'
import type { StartedProxy } from './proxy-process.ts'

export interface InnerRunOptions {
  /** Starts a process of a proxy: out here, where the command cannot look into it. */
  readonly startProxy: () => StartedProxy
  /** The run that it is within. */
  readonly outer: StartProxy & { readonly socketFolder: string; readonly seenFolder: string }
  readonly key: SigningKey
  /** Has the agent of the run sign the start of another. */
  readonly register: (request: StartRun) => Promise<Run>
}

/**
 * A run that the command asks for. Its key is made out here and stays here: in the command's hands it would be a way to
 * credentials as characters. Of what the command says, only that counts which makes the run smaller.
 */
export function serveInnerRun(line: Duplex, options: InnerRunOptions): void {
  const { child, said } = options.startProxy()
  const tell = (message: ToProxy | undefined) => {
    if (message !== undefined && child.connected) child.send(message, () => {})
  }
  const key = Promise.withResolvers<RunKey>()
  key.promise.catch(() => {})
  const begun = Promise.withResolvers<Run>()
  begun.promise.catch(() => {})
  const heard = (message: FromProxy) => {
    if (message.type === 'key') key.resolve(message)
    if (message.type === 'register') void answerRegister(options, message, tell)
    else writeJsonLine(line, message)
  }
  for (const message of said) heard(message)
  child.removeAllListeners('message')
  child.on('message', heard)
  child.once('disconnect', () => {
    key.reject(new BrokerError('InternalError', 'The proxy of the run ended before it should'))
    line.end()
  })
  line.on('error', () => line.destroy())
  // A socket of a server stays half open.
  line.once('end', () => line.destroy())
  line.once('close', () => {
    if (child.connected) child.disconnect()
  })
  readJsonLines(line, (value) => {
    const message = value as ToOuterRun
    if (message.type === 'begin') void begin(options, message.request, { key, begun, line })
    else void begun.promise.then((run) => tell(forwarded(message, run, options))).catch(() => {})
  })
}

interface Beginning {
  readonly key: PromiseWithResolvers<RunKey>
  readonly begun: PromiseWithResolvers<Run>
  readonly line: Duplex
}

async function begin(
  { outer, key: outerKey, register }: InnerRunOptions,
  { only, connections, command }: Partial<StartRun>,
  { key, begun, line }: Beginning,
): Promise<void> {
  try {
    const { did, overrides } = await key.promise
    const run = await register({
      did,
      ...(only && { only }),
      ...(connections && { connections }),
      ...(command && { command }),
      ...(overrides && { overrides }),
      isolation: outer.isolation,
      ...withinOf(outerKey, { within: outer.runId, did }),
    })
    begun.resolve(run)
    writeJsonLine(line, { type: 'begun', run } satisfies FromProxy)
  } catch (error) {
    begun.reject(error)
    writeJsonLine(line, { type: 'failed', failure: failureOf(error) } satisfies FromProxy)
  }
}

/** What the command says, with all that is not its to say replaced; undefined for what does not concern the proxy. */
function forwarded(message: ToProxy, { run_id: runId }: Run, { outer }: InnerRunOptions): ToProxy | undefined {
  switch (message.type) {
    case 'start': {
      const { strict, hasBrowser } = message.start
      const socketFolder = mkdtempSync(join(outer.socketFolder, 'r'))
      const seenFolder = join(outer.seenFolder, basename(socketFolder))
      const narrowed = { strict: outer.strict || strict === true, hasBrowser: hasBrowser === true }
      // What the sandbox shares it has already.
      const shared = { ports: [], allowed: outer.allowed.map(({ address: _, ...host }) => host) }
      return { type: 'start', start: { ...outer, ...narrowed, ...shared, runId, socketFolder, seenFolder } }
    }
    case 'describe':
      return { type: 'describe', description: String(message.description) }
    case 'child_ended':
      return { type: 'child_ended', exitCode: Number(message.exitCode) | 0 }
    // Numbers of processes are the command's to say, and not to be signalled.
    case 'child_started':
    case 'registered':
      return undefined
  }
}

async function answerRegister(
  { register }: InnerRunOptions,
  { id, request }: Extract<FromProxy, { type: 'register' }>,
  tell: (message: ToProxy) => void,
): Promise<void> {
  tell({ type: 'registered', id, ...(await outcomeOf(register(request))) })
}
