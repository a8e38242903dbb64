import { request } from 'node:http'
import { type SigningKey, signInnerRun } from '../identity/index.ts'
import { BrokerError, INNER_RUN_PATH, RUN_DESCRIPTION_PATH, type Secret } from '../protocol/index.ts'
import type { StartRun } from '../schemas/index.ts'
import type { Changes } from './child-environment.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What a run's proxy tells a run that is started within it. */
export interface RunDescription {
  readonly run_id: string
  /** Handle of the agent that the run is of. */
  readonly agent: string
  /** Settings of Broker that a child is not given, and its own `broker` needs. No secret is among them. */
  readonly settings: Readonly<Record<string, string>>
  readonly changes: Changes
}

/**
 * The environment of a run's child as it was outside of that run, with what Broker needs to know of it; only the proxy stays,
 * which is the way out. The first of `proxies` that answers is it. Where none does, the run has ended, and its proxy is taken
 * out too: it leads nowhere.
 */
export async function outsideOfRun(environment: Environment, proxies: readonly string[]): Promise<Environment> {
  for (const proxy of proxies) {
    const description = await askRun(new URL(proxy))
    if (description === undefined) continue
    const { agent, changes, run_id, settings } = description
    const { BROKER_RUN_SOCKET: _, ...restored } = restore(environment, changes)
    const way = { HTTPS_PROXY: proxy, https_proxy: proxy, HTTP_PROXY: proxy, http_proxy: proxy }
    return { ...settings, ...restored, ...way, BROKER_OUTER_RUN: run_id, BROKER_OUTER_AGENT: agent }
  }
  return Object.fromEntries(Object.entries(environment).filter(([, text]) => !proxies.includes(text ?? '')))
}

/** Says with the key of the outer run that one of this did:key is within it. */
export function withinOf(
  key: SigningKey,
  { within, did }: { readonly within: string; readonly did: string },
): WithinRun {
  return { within, within_signature: signInnerRun(key, { within, did }) }
}

/** Members of a run's start by which the daemon knows which one it is in. */
export type WithinRun = Required<Pick<StartRun, 'within' | 'within_signature'>>

/**
 * Has the outer run say with its key that a run is started within it.
 * @throws BrokerError OperationNotAllowedError where nobody can say that any more
 */
export async function withinRun(proxy: Secret, did: string): Promise<WithinRun> {
  const { within, within_signature } = (await askProxy<WithinRun>(new URL(proxy.reveal()), INNER_RUN_PATH + did)) ?? {}
  if (within && within_signature) return { within, within_signature }
  throw new BrokerError('OperationNotAllowedError', 'The run around this one has ended', {
    hint: 'Start the outer command again with `broker run`.',
  })
}

async function askRun(proxy: URL): Promise<RunDescription | undefined> {
  const { run_id, agent, settings, changes } = (await askProxy<RunDescription>(proxy, RUN_DESCRIPTION_PATH)) ?? {}
  return run_id && agent && settings && changes ? { run_id, agent, settings, changes } : undefined
}

const TIME_LIMIT = 5_000

/** Undefined where nobody answers with JSON in time. */
function askProxy<Shape>({ port, username, password }: URL, path: string): Promise<Partial<Shape> | undefined> {
  return new Promise((resolve) => {
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    const asked = request({
      host: '127.0.0.1',
      port,
      path,
      headers: { 'proxy-authorization': authorization },
      agent: false,
      timeout: TIME_LIMIT,
    })
    const giveUp = () => resolve(undefined)
    asked.once('response', (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk) => {
        text += chunk
      })
      answer.once('end', () => resolve(parsed<Shape>(text)))
      answer.once('error', giveUp)
    })
    asked.once('timeout', () => asked.destroy())
    asked.once('error', giveUp)
    asked.end()
  })
}

function parsed<Shape>(text: string): Partial<Shape> | undefined {
  try {
    return JSON.parse(text) as Partial<Shape>
  } catch {
    return undefined
  }
}

/** Variables to which others add their own. */
const ADDED_TO = new Set(['NODE_OPTIONS', 'BROKER_INHERITED_NODE_OPTIONS', 'JAVA_TOOL_OPTIONS', 'PHP_INI_SCAN_DIR'])

/** Keeps what the child, or a program in between, has put beside the run's own value. */
function restore(environment: Environment, changes: Changes): Environment {
  const restored: Record<string, string | undefined> = { ...environment }
  const { NODE_OPTIONS: nodeOptions } = changes
  // `bin/broker` has put the one in place of the other.
  const all = { ...changes, ...(nodeOptions && { BROKER_INHERITED_NODE_OPTIONS: nodeOptions }) }
  for (const [name, { set, before }] of Object.entries(all)) {
    const value = restored[name]
    const isOurs = value === set || (ADDED_TO.has(name) && value?.includes(set))
    const text = isOurs ? value?.replace(set, () => before ?? '').trim() : value
    restored[name] = text === '' ? undefined : text
  }
  return restored
}
