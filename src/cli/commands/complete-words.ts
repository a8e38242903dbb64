import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { listIdentities } from '../../config/index.ts'
import { completionsFor, type KnownNames } from '../completions.ts'
import type { Invocation } from '../invocation.ts'
import type { Output } from '../output.ts'
import { printable } from '../printable.ts'
import { asAgent } from '../session.ts'

/** Nobody waits longer after pressing Tab. */
const PATIENCE = 1_000

/**
 * Prints what completes the last word, one a line, with a tab before what it is. Names come of the daemon that runs; none is
 * started, and where there is none, or it takes its time, nothing is said.
 */
export async function printCompletions(
  open: () => Promise<Invocation>,
  program: Command,
  { words, output }: { readonly words: readonly string[]; readonly output: Output },
): Promise<void> {
  const [separator, ...typed] = words
  if (separator !== '--') return
  const found = completionsFor(program, typed, namesOf(open)).catch(() => [])
  const late = delay(PATIENCE, [], { ref: false })
  for (const { word, description } of await Promise.race([found, late])) {
    output.text(`${printable(word)}\t${printable(description)}\n`)
  }
}

function namesOf(open: () => Promise<Invocation>): KnownNames {
  return {
    async providers() {
      const { bundled, custom } = await asAgent(await open(), (client) => client.providers())
      return [...custom, ...bundled].map(({ name, display_name }) => ({ word: name, description: display_name }))
    },
    async connections(of) {
      const all = await asAgent(await open(), (client) => client.connections())
      return all
        .filter(({ provider }) => of === undefined || provider === of)
        .map(({ provider, connection, status }) => ({
          provider,
          word: connection,
          description: `${provider}, ${status}`,
        }))
    },
    async agents() {
      const { config } = await open()
      return listIdentities(config.paths).map((word) => ({ word, description: 'agent of this home' }))
    },
  }
}
