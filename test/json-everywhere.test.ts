import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'

import { type BrokerHome, logIn, onboarded } from './broker-command.ts'
import { suiteCleanup } from './daemon-under-test.ts'

const KEY = `sk-CNRY${'a'.repeat(40)}`
const DEFINITION = {
  schema_version: 1,
  name: 'acme',
  display_name: 'Acme',
  auth_type: 'api_key',
  flow: 'api_key',
  hosts: ['api.acme.example'],
  api_key: { prefix: 'Bearer' },
}

/** Each command as it succeeds, in an order in which all do. */
const SUCCEEDING: readonly (readonly [args: string, input?: string])[] = [
  ['onboard'],
  ['login openai', KEY],
  ['login openai --connection work', KEY],
  ['log'],
  ['log --raw'],
  ['log verify'],
  ['connections'],
  ['connections list'],
  ['connections inspect openai'],
  ['connections approve --all --yes'],
  ['connections set-default openai work'],
  ['logout openai --connection default'],
  ['provider list'],
  ['provider inspect openai'],
  ['provider validate acme.json'],
  ['provider register acme.json --yes'],
  ['provider new shiny --host api.shiny.example'],
  ['provider export acme'],
  ['provider export --all-custom --out definitions'],
  ['provider update'],
  ['provider revoke openai --yes'],
  ['provider remove acme --yes'],
  ['agent create ci'],
  ['agent list'],
  ['agent use ci'],
  ['agent remove ci --yes'],
  ['whoami'],
  ['doctor'],
  ['why https://api.example.invalid/'],
  ['dashboard'],
  ['vault status'],
  ['vault rotate'],
  ['vault rekey --to local_key'],
  ['lock'],
  ['unlock'],
  ['backup copy.age --to-passphrase', 'CNRY words for the copy'],
  ['restore copy.age --yes', 'CNRY words for the copy'],
  ['completion bash'],
  ['help login'],
  ['login --help'],
  ['--version'],
  ['help'],
  ['daemon status'],
  ['daemon start'],
  ['daemon logs'],
]

/** Each as it fails, by a wrong name, a wrong value, or too little. */
const FAILING: readonly string[] = [
  'onboard --from nowhere',
  'login nobody',
  'login openai --flow sideways',
  'logout openai --connection none',
  'run',
  'log --since sometimes',
  'connections inspect nobody',
  'connections approve nobody --yes',
  'connections set-default openai none',
  'connections nothing',
  'provider inspect nobody',
  'provider register nothing.json',
  'provider revoke nobody --yes',
  'provider remove nobody --yes',
  'agent create Not/A/Name',
  'agent use nobody',
  'agent remove nobody --yes',
  'daemon logs -f',
  'vault rekey --to command',
  'vault rekey',
  'backup copy.age',
  'restore nothing.age --yes',
  'store migrate --to postgres',
  'admin reset-password ada@example.com',
  'why',
  'completion tcsh',
  'help nothing',
  'nothing',
]

describe('--json', { timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  let world: BrokerHome
  before(async () => {
    world = await onboarded(cleanup)
    await logIn(world, 'groq', `gsk_CNRY${'o'.repeat(48)}`)
    writeFileSync(join(world.folder, 'acme.json'), JSON.stringify(DEFINITION))
  })

  it('is one document of every command, on standard output', async () => {
    const wrong: string[] = []
    for (const [args, input] of SUCCEEDING) {
      const { stdout, stderr, code } = await world.broker([...args.split(' '), '--json'], { input: `${input ?? ''}\n` })
      const isWell = code === 0 || args.startsWith('why')
      if (!isWell || parsed(stdout) === undefined) wrong.push(`${args}: ${code} ${stdout.slice(0, 100)} ${stderr}`)
    }
    assert.deepEqual(wrong, [])
  })

  it('is one document of every failure, with "error" and "message", on standard output', async () => {
    const wrong: string[] = []
    for (const args of FAILING) {
      const { stdout, code } = await world.broker([...args.split(' '), '--json'], { input: '' })
      const { error, message } = parsed(stdout) ?? {}
      const isWell = typeof error === 'string' && typeof message === 'string' && code !== null && code > 0 && code < 10
      if (!isWell) wrong.push(`${args}: ${code} ${stdout.slice(0, 100)}`)
    }
    assert.deepEqual(wrong, [])
  })

  it('is asked of each command here', () => {
    // `run` prints what its command prints, `log export` a form of its own, and `daemon serve` becomes the daemon; the others end it.
    const left = ['run', 'log export', 'daemon serve', 'daemon stop', 'daemon restart']
    const asked = [...SUCCEEDING.map(([args]) => args), ...FAILING]
    const commands = readFileSync(new URL('../docs/commands.md', import.meta.url), 'utf8').matchAll(
      /^### `broker ([a-z -]+[a-z])/gm,
    )
    const unasked = [...commands]
      .map(([, name = '']) => name)
      .filter((name) => !left.includes(name) && !asked.some((args) => `${args} `.startsWith(`${name} `)))
    assert.deepEqual(unasked, [])
  })

  it('is one document of what ends the daemon', async () => {
    try {
      for (const args of ['daemon restart', 'daemon stop', 'daemon stop', 'daemon status'])
        assert.notEqual(parsed((await world.broker([...args.split(' '), '--json'])).stdout), undefined, args)
    } finally {
      await world.broker(['daemon', 'stop'])
    }
  })
})

function parsed(stdout: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(stdout)
  } catch {
    return undefined
  }
}
