/** What a longer job would be: it calls an API with the token from its environment, for each path that it reads, at once. */
import { createInterface } from 'node:readline'

/** One line of what it writes. */
export interface Call {
  readonly path: string
  /** Seconds since it was started. */
  readonly at: number
  /** What it sent as its `Authorization`. */
  readonly sent: string
  readonly status: number
}

const [host = ''] = process.argv.slice(2)
const authorization = `Bearer ${process.env['ACME_DRIVE_TOKEN']}`

for await (const path of createInterface({ input: process.stdin })) void call(path)

async function call(path: string): Promise<void> {
  const at = performance.now() / 1000
  const { status } = await fetch(`https://${host}${path}`, { headers: { authorization } })
  console.log(JSON.stringify({ path, at, sent: authorization, status } satisfies Call))
}
