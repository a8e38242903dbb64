import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { BrokerError } from '../../protocol/index.ts'
import type { CatalogueChange, CatalogueState } from '../../schemas/index.ts'
import { day } from '../day.ts'
import type { Invocation } from '../invocation.ts'
import { cancelled } from '../prompt.ts'
import { asAgent } from '../session.ts'

export interface UpdateOptions {
  readonly key?: string
  readonly check?: boolean
  readonly yes?: boolean
  readonly reset?: boolean
}

/** Puts a signed catalogue file to use, goes back to the shipped definitions, or says which are in use. */
export async function updateCatalogue(
  invocation: Invocation,
  path: string | undefined,
  options: UpdateOptions,
): Promise<void> {
  if (options.reset && path !== undefined) throw notBoth()
  if (options.reset) return reset(invocation, options)
  return path === undefined ? showState(invocation) : update(invocation, path, options)
}

async function update(invocation: Invocation, path: string, options: UpdateOptions): Promise<void> {
  const { output, terminal } = invocation
  const key = options.key === undefined ? undefined : publicKey(options.key)
  const file = path === '-' ? await text(terminal.input) : textOf(path)
  const wanted = { file, ...(key !== undefined && { key }) }
  await change(invocation, options, {
    look: (client) => client.updateCatalogue({ ...wanted, check: true }),
    act: (client) => client.updateCatalogue(wanted),
    question: ({ catalogue }) => `Use the catalogue ${catalogue?.version}?`,
    done: ({ catalogue }) => output.done(`The catalogue ${catalogue?.version} is in use`),
  })
}

async function reset(invocation: Invocation, options: UpdateOptions): Promise<void> {
  await change(invocation, options, {
    look: (client) => client.resetCatalogue({ check: true }),
    act: (client) => client.resetCatalogue({ check: false }),
    question: () => 'Go back to the definitions that came with this version?',
    done: () => invocation.output.done('The definitions that came with this version are in use'),
  })
}

type Client = Parameters<Parameters<typeof asAgent>[1]>[0]

interface Change {
  look(client: Client): Promise<CatalogueChange>
  act(client: Client): Promise<CatalogueChange>
  question(planned: CatalogueChange): string
  done(made: CatalogueChange): void
}

/** Looks first, for people and programs alike: what is asked for is what was shown. */
async function change(
  invocation: Invocation,
  { check, yes }: UpdateOptions,
  { look, act, question, done }: Change,
): Promise<void> {
  const { output, terminal } = invocation
  const made = await asAgent(invocation, async (client) => {
    const planned = await look(client)
    if (planned.status === 'unchanged') return planned
    showDifference(invocation, planned)
    if (check) return planned
    if (!yes && !terminal.canAsk) throw mustBeConfirmed()
    if (!yes && !(await terminal.confirm(question(planned)))) throw cancelled()
    return act(client)
  })
  for (const warning of made.warnings) output.warn(warning)
  output.result(made, () => {
    if (made.status === 'ok') done(made)
    if (made.status === 'unchanged') output.done(`The catalogue ${made.catalogue?.version} is in use already`)
    if (made.status === 'checked') output.note('Nothing was changed.')
  })
}

function showDifference({ output }: Invocation, { catalogue, difference, overridden }: CatalogueChange): void {
  const { added, changed, removed, moved } = difference
  if (catalogue) {
    const { version, publisher, keys, made_at } = catalogue
    const whose = publisher === 'project' ? "the project's key" : 'your key'
    output.notice(`Catalogue ${version} of ${day(made_at)}, signed by ${whose} ${keys.join(', ')}`)
  }
  for (const { name, hosts } of added) output.notice(`  new      ${name}: ${hosts.join(', ')}`)
  for (const name of changed) output.notice(`  changed  ${name}`)
  for (const name of removed) output.notice(`  removed  ${name}`)
  if (added.length + changed.length + removed.length === 0) output.notice('  No definition changes.')
  for (const one of moved) {
    output.notice(`Credentials of ${one.name} would go elsewhere; connections made before wait for approval:`)
    for (const line of linesOf(one.added)) output.notice(`  + ${line}`)
    for (const line of linesOf(one.removed)) output.notice(`  - ${line}`)
  }
  if (overridden.length > 0) output.notice(`Your own definitions stay in use: ${overridden.join(', ')}`)
}

function linesOf({ hosts, injections, endpoints }: CatalogueChange['difference']['moved'][number]['added']) {
  return [...hosts, ...injections, ...endpoints]
}

async function showState(invocation: Invocation): Promise<void> {
  const { output } = invocation
  const state = await asAgent(invocation, (client) => client.catalogue())
  output.result(state, () => {
    output.table(
      ['CATALOGUE', 'FROM', 'KEY', 'MADE', 'EXPIRES', 'DEFINITIONS'],
      [
        [state.shipped_version, 'this version of Broker'],
        ...state.installed.map((one) => [
          one.version,
          one.publisher === 'project' ? 'the project' : 'you',
          one.keys.join(', '),
          day(one.made_at),
          one.expires_at && day(one.expires_at),
          String(one.definitions),
        ]),
      ],
    )
  })
}

/** For a line about something else: `2026-11-22.1`, or what stands before it. */
export function catalogueLine({ shipped_version, installed }: CatalogueState): string {
  const before = installed.map(
    ({ version, publisher }) => `${version} of ${publisher === 'project' ? 'the project' : 'yours'}`,
  )
  return `catalogue ${[...before.toReversed(), shipped_version].join(' before ')}`
}

/** Never a private one: it would leave this machine's most guarded file. */
function publicKey(path: string): string {
  const pem = textOf(path)
  if (!pem.includes('PRIVATE KEY')) return pem
  throw new BrokerError('InvalidRequestError', `The file "${path}" has a private key; nothing was sent`, {
    hint: 'Name its public half: openssl pkey -in private.pem -pubout -out public.pem',
  })
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (cause) {
    throw new BrokerError('InvalidRequestError', `Cannot read the file "${path}"`, { cause })
  }
}

function mustBeConfirmed(): BrokerError {
  return new BrokerError('InputCancelledError', 'Cannot ask whether to change the catalogue: this is no terminal', {
    hint: 'Look with --check, and confirm with --yes.',
  })
}

function notBoth(): BrokerError {
  return new BrokerError('InvalidRequestError', 'Give a catalogue file or --reset, not both')
}
