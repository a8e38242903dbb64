import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from 'commander'
import { createProgram, type GlobalOptions } from './program.ts'

const COMMANDS = [
  'broker',
  'broker admin',
  'broker admin reset-password',
  'broker agent',
  'broker agent create',
  'broker agent list',
  'broker agent remove',
  'broker agent use',
  'broker backup',
  'broker completion',
  'broker connections',
  'broker connections approve',
  'broker connections inspect',
  'broker connections list',
  'broker connections set-default',
  'broker daemon',
  'broker daemon logs',
  'broker daemon restart',
  'broker daemon serve',
  'broker daemon start',
  'broker daemon status',
  'broker daemon stop',
  'broker dashboard',
  'broker doctor',
  'broker help',
  'broker lock',
  'broker log',
  'broker log export',
  'broker log verify',
  'broker login',
  'broker logout',
  'broker onboard',
  'broker provider',
  'broker provider export',
  'broker provider inspect',
  'broker provider list',
  'broker provider new',
  'broker provider register',
  'broker provider remove',
  'broker provider revoke',
  'broker provider update',
  'broker provider validate',
  'broker restore',
  'broker run',
  'broker store',
  'broker store migrate',
  'broker unlock',
  'broker vault',
  'broker vault rekey',
  'broker vault rotate',
  'broker vault status',
  'broker whoami',
  'broker why',
]

test('the commands are those of the interface', () => {
  assert.deepEqual(everyCommand(program()).map(fullName).toSorted(), COMMANDS)
})

test('every command has a description and one example of itself', () => {
  for (const command of everyCommand(program())) {
    const help = helpOf(command)
    assert.notEqual(command.description(), '')
    assert.match(help, new RegExp(`Example:\n  \\$ .*${fullName(command)}`), fullName(command))
    assert.match(help, /--json/, fullName(command))
  }
})

test('global options are understood before and after the name of the command', async () => {
  const expected = {
    json: true,
    quiet: true,
    color: false,
    verbose: true,
    logFile: '',
    command: 'broker daemon status',
  }
  const options = ['--json', '--quiet', '--no-color', '--verbose', '--log-file', '']

  assert.deepEqual(await globalsFor([...options, 'daemon', 'status']), expected)
  assert.deepEqual(await globalsFor(['daemon', ...options, 'status']), expected)
  assert.deepEqual(await globalsFor(['daemon', 'status', ...options]), expected)
})

test('options behind the command of `run` belong to that command', async () => {
  const { json, quiet } = await globalsFor(['run', '--quiet', '--', 'curl', '--json', '{}'])
  const withoutDashes = await globalsFor(['run', 'curl', '--json', '{}'])

  assert.deepEqual([json, quiet], [false, true])
  assert.equal(withoutDashes.json, false)
})

async function globalsFor(argv: readonly string[]): Promise<GlobalOptions> {
  let seen: GlobalOptions | undefined
  await createProgram('0.0.0', async (globals) => {
    seen = globals
  }).parseAsync([...argv], { from: 'user' })
  assert.ok(seen)
  return seen
}

function program(): Command {
  return createProgram('0.0.0', async () => undefined)
}

function everyCommand(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name()
}

function helpOf(command: Command): string {
  let help = ''
  command.configureOutput({ writeOut: (text) => (help += text) })
  command.outputHelp()
  return help
}
