import type { Command, Option } from 'commander'
import { FROM_WORDS } from './command-words.ts'

export interface Word {
  readonly word: string
  readonly description: string
}

/** What only the daemon and the home know; each may be slow, or fail. */
export interface KnownNames {
  providers(): Promise<readonly Word[]>
  /** Of one provider, or of all. */
  connections(provider?: string): Promise<readonly (Word & { readonly provider: string })[]>
  agents(): Promise<readonly Word[]>
}

/** Returns what may stand in the place of the last of the words typed after `broker`; nothing where that is for the shell to say. */
export async function completionsFor(
  program: Command,
  typed: readonly string[],
  names: KnownNames,
): Promise<readonly Word[]> {
  const current = typed.at(-1) ?? ''
  const place = placeOf(program, typed.slice(0, -1))
  if (place === undefined) return []
  const [, name, value] = /^(--[a-z-]+)=(.*)$/s.exec(current) ?? []
  const option = name === undefined ? place.option : optionNamed(place.command, name)
  const lead = name === undefined ? '' : `${name}=`
  if (option) {
    const found = await valuesOf(option, value ?? current, place, names)
    return beginningWith(
      current,
      found.map(({ word, description }) => ({ word: lead + word, description })),
    )
  }
  const found = current.startsWith('-') ? optionsOf(place.command) : await argumentsOf(program, place, names)
  return beginningWith(current, found)
}

/** Where the words before the last lead. */
interface Place {
  readonly command: Command
  /** That the last word is the value of. */
  readonly option: Option | undefined
  readonly args: readonly string[]
}

function placeOf(program: Command, words: readonly string[]): Place | undefined {
  let command = program
  let option: Option | undefined
  const args: string[] = []
  for (const word of words) {
    if (option) option = undefined
    // What follows is a command of somebody else.
    else if (word === '--') return undefined
    else if (word.startsWith('-')) option = word.includes('=') ? undefined : withValue(optionNamed(command, word))
    else {
      const child = args.length === 0 ? command.commands.find((one) => one.name() === word) : undefined
      if (child) command = child
      else args.push(word)
    }
  }
  return command.name() === 'run' && args.length > 0 ? undefined : { command, option, args }
}

function lineage(command: Command): readonly Command[] {
  return command.parent ? [command, ...lineage(command.parent)] : [command]
}

function optionNamed(command: Command, name: string): Option | undefined {
  return lineage(command)
    .flatMap(({ options }) => options)
    .find(({ long, short }) => name === long || name === short)
}

function withValue(option: Option | undefined): Option | undefined {
  return option && (option.required || option.optional) ? option : undefined
}

/** Values that are examples, or the usual ones. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  '--since': ['1h', '1d', '1w', 'today', 'yesterday'],
  '--until': ['1h', '1d', '1w', 'today', 'yesterday'],
  '--from': FROM_WORDS,
  '--method': ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
}
const LISTS: ReadonlySet<string> = new Set(['--from', '--only'])

async function valuesOf(
  { long = '', argChoices }: Option,
  current: string,
  { command, args }: Place,
  names: KnownNames,
): Promise<readonly Word[]> {
  const values = argChoices ?? VALUES[long]
  const found = values ? values.map(plain) : await namesFor(long, command, args, names)
  const before = LISTS.has(long) ? current.slice(0, current.lastIndexOf(',') + 1) : ''
  return found.map(({ word, description }) => ({ word: before + word, description }))
}

function namesFor(
  long: string,
  command: Command,
  args: readonly string[],
  names: KnownNames,
): Promise<readonly Word[]> {
  if (long === '--provider' || long === '--only') return names.providers()
  if (long === '--identity' || long === '--agent') return names.agents()
  if (long !== '--connection') return Promise.resolve([])
  return command.name() === 'run' ? pairs(names) : names.connections(args[0])
}

async function pairs(names: KnownNames): Promise<readonly Word[]> {
  return (await names.connections()).map(({ provider, word, description }) => ({
    word: `${provider}=${word}`,
    description,
  }))
}

async function argumentsOf(program: Command, { command, args }: Place, names: KnownNames): Promise<readonly Word[]> {
  if (command.name() === 'help') return childrenOf(args.reduce(childNamed, program))
  const argument = command.registeredArguments[args.length]
  const children = args.length === 0 ? childrenOf(command) : []
  if (argument?.argChoices) return argument.argChoices.map(plain)
  if (argument?.name() === 'provider') return [...children, ...(await names.providers())]
  if (argument?.name() === 'connection') return names.connections(args[0])
  const isAgent = argument?.name() === 'name' && ['use', 'remove'].includes(command.name())
  return isAgent && command.parent?.name() === 'agent' ? names.agents() : children
}

function childNamed(command: Command, name: string): Command {
  return command.commands.find((one) => one.name() === name) ?? command
}

function childrenOf(command: Command): readonly Word[] {
  return command.commands.map((child) => ({ word: child.name(), description: child.description() }))
}

function optionsOf(command: Command): readonly Word[] {
  const options = lineage(command).flatMap((one) => one.options.filter(({ hidden }) => !hidden))
  const words = options.flatMap(({ long, description }) => (long ? [{ word: long, description }] : []))
  return [...words, { word: '--help', description: 'print this help' }]
}

function plain(word: string): Word {
  return { word, description: '' }
}

function beginningWith(current: string, words: readonly Word[]): readonly Word[] {
  return words.filter(({ word }) => word.startsWith(current))
}
