import { request } from 'node:http'
import { RUN_DESCRIPTION_PATH } from '../protocol/index.ts'
import type { Changes } from './child-environment.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What a run's proxy tells a run that is started within it. */
export interface RunDescription {
  readonly run_id: string
  /** Settings of Broker that a child is not given, and its own `broker` needs. No secret is among them. */
  readonly settings: Readonly<Record<string, string>>
  readonly changes: Changes
}

/**
 * The environment of a run's child as it was outside of that run, with what Broker needs to know of it; only the proxy stays,
 * which is the way out. Where the run has ended, its proxy is taken out too: then it leads nowhere.
 */
export async function outsideOfRun(environment: Environment, proxy: string): Promise<Environment> {
  const description = await askRun(new URL(proxy))
  if (description === undefined) return without(environment, proxy)
  const restored = restore(environment, description.changes)
  const way = { HTTPS_PROXY: proxy, https_proxy: proxy, HTTP_PROXY: proxy, http_proxy: proxy }
  return { ...description.settings, ...restored, ...way, BROKER_OUTER_RUN: description.run_id }
}

const TIME_LIMIT = 5_000

function askRun({ port, username, password }: URL): Promise<RunDescription | undefined> {
  return new Promise((resolve) => {
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    const asked = request({
      host: '127.0.0.1',
      port,
      path: RUN_DESCRIPTION_PATH,
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
      answer.once('end', () => resolve(parsed(text)))
      answer.once('error', giveUp)
    })
    asked.once('timeout', () => asked.destroy())
    asked.once('error', giveUp)
    asked.end()
  })
}

function parsed(text: string): RunDescription | undefined {
  try {
    const description = JSON.parse(text) as Partial<RunDescription>
    const { run_id, settings, changes } = description
    return run_id && settings && changes ? { run_id, settings, changes } : undefined
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

function without(environment: Environment, value: string): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, text]) => text !== value))
}
