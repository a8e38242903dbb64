/**
 * A program of its own, beside the daemon or without one: copies the store of a home. It reads a {@link CopyOrder} from the
 * first line of standard input and writes one JSON document to standard output. Before a restore it writes what that would
 * take back first, and goes on at a second line. The command line starts it, and never opens a store itself.
 */
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { keepMemoryPrivate, loadConfig, userFolder } from '../config/index.ts'
import { BrokerError, Secret } from '../protocol/index.ts'
import { makeBackup } from './make-backup.ts'
import { moveHome } from './move-home.ts'
import { restoreHome } from './restore-home.ts'

/** What the command line wants, as JSON; secrets are text there. */
type CopyOrder =
  | {
      readonly do: 'backup'
      readonly file: string
      readonly passphrase?: string
      readonly recipient?: string
      readonly withKey: boolean
    }
  | { readonly do: 'move'; readonly to: 'postgres' | 'sqlite'; readonly url: string }
  | { readonly do: 'restore'; readonly file: string; readonly passphrase?: string; readonly identity?: string }

const { version } = JSON.parse(readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8')) as {
  version: string
}

async function main(): Promise<void> {
  keepMemoryPrivate()
  process.umask(0o077)
  const config = loadConfig(process.env, userFolder())
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  const order = JSON.parse(String((await lines.next()).value)) as CopyOrder
  const say = (what: object) => process.stdout.write(`${JSON.stringify(what)}\n`)
  if (order.do === 'backup') {
    const whom =
      order.passphrase === undefined
        ? { recipient: String(order.recipient) }
        : { passphrase: new Secret(order.passphrase) }
    say(await makeBackup(config, { file: order.file, for: whom, withKey: order.withKey, version }))
    return
  }
  if (order.do === 'move') {
    say({ tables: await moveHome(config, { to: order.to, url: new Secret(order.url), version }) })
    return
  }
  const by =
    order.passphrase === undefined
      ? { identity: new Secret(String(order.identity)) }
      : { passphrase: new Secret(order.passphrase) }
  const isWanted = async (change: object) => {
    say({ change })
    return (await lines.next()).value === 'go'
  }
  say(await restoreHome(config, { file: order.file, by, isWanted, version }))
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    const known =
      error instanceof BrokerError ? error : new BrokerError('InternalError', 'The copy failed', { cause: error })
    const { hint } = known.options
    process.stdout.write(`${JSON.stringify({ error: known.name, message: known.message, ...(hint && { hint }) })}\n`)
    if (known !== error) process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
    process.exit(1)
  },
)
