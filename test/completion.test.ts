import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { findProgram, whyNot } from '../tools/available.ts'
import { BROKER, type BrokerHome, logIn, onboarded } from './broker-command.ts'
import { suiteCleanup } from './daemon-under-test.ts'
import { atOwnTerminal } from './own-terminal.ts'

describe('completions', { timeout: 120_000 }, () => {
  const cleanup = suiteCleanup()
  let world: BrokerHome
  let env: Readonly<Record<string, string>>
  before(async () => {
    world = await onboarded(cleanup)
    await logIn(world, 'openai', `sk-CNRY${'a'.repeat(40)}`)
    await logIn(world, 'openai', `sk-CNRY${'b'.repeat(40)}`, ['--connection', 'work'])
    await world.broker(['agent', 'create', 'ci-runner'])
    env = { ...world.env, PATH: `${dirname(BROKER)}:${world.env['PATH']}` }
  })

  const complete = async (...typed: readonly string[]) => {
    const { code, stdout, stderr } = await world.broker(['complete-words', '--', ...typed])
    assert.deepEqual([code, stderr], [0, ''])
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0] ?? '']))
  }

  it('know commands, options and their values', async () => {
    assert.deepEqual(await complete('daemon', 'st'), ['start', 'stop', 'status'])
    assert.deepEqual(await complete('login', 'x', '--no-b'), ['--no-browser'])
    assert.deepEqual(await complete('log', '--j'), ['--json'])
    assert.deepEqual(await complete('login', 'x', '--flow', 'd'), ['device_code', 'dcr_pkce'])
    assert.deepEqual(await complete('login', '--flow=pk'), ['--flow=pkce'])
    assert.deepEqual(await complete('log', '--status', ''), ['success', 'failure', 'denied'])
    assert.deepEqual(await complete('log', '--since', 'y'), ['yesterday'])
    assert.deepEqual(await complete('onboard', '--from', 'gh,net'), ['gh,netrc', 'gh,netlify'])
    assert.deepEqual(await complete('completion', ''), ['bash', 'zsh', 'fish'])
    assert.deepEqual(await complete('help', 'provider', 'ins'), ['inspect'])
  })

  it('know providers, connections and agents of the running daemon', async () => {
    assert.deepEqual(await complete('login', 'openr'), ['openrouter'])
    assert.deepEqual(await complete('--json', 'connections', 'set-default', 'openai', ''), ['default', 'work'])
    assert.deepEqual(await complete('logout', 'openai', '--connection', 'w'), ['work'])
    assert.deepEqual(await complete('logout', 'github', '--connection', ''), [])
    assert.deepEqual(await complete('run', '--connection', 'openai='), ['openai=default', 'openai=work'])
    assert.deepEqual(await complete('run', '--only', 'openai,openr'), ['openai,openrouter'])
    assert.deepEqual(await complete('agent', 'use', 'ci'), ['ci-runner'])
    assert.deepEqual(await complete('log', '--identity', 'ci'), ['ci-runner'])
    assert.deepEqual(await complete('agent', 'create', ''), [])
  })

  it('leave to the shell what is of another command, and say nothing of what was typed', async () => {
    for (const typed of [
      ['run', '--', ''],
      ['run', 'curl', '-'],
      ['run', 'openai'],
      ['login', 'sk-CNRY'],
      ['CNRY', 'x'],
    ])
      assert.deepEqual(await complete(...typed), [])
  })

  it('are given by bash, also behind "=" and ":"', async () => {
    const script = `source <(broker completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _broker; printf '%s\\n' "\${COMPREPLY[@]}"`
    const bash = async (...words: readonly string[]) => {
      const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', script, 'bash', 'broker', ...words], {
        env,
      })
      return stdout.trimEnd().split('\n')
    }
    assert.deepEqual(await bash('daemon', 'st'), ['start', 'stop', 'status'])
    assert.deepEqual(await bash('login', '--flow', '=', 'pk'), ['pkce'])
    assert.deepEqual(await bash('run', '--connection', 'openai', '=', 'w'), ['work'])
    assert.deepEqual(await bash('run', '--connection', 'openai', '='), ['default', 'work'])
  })

  it('are given by fish, with what they are', { skip: whyNot('fish') }, async () => {
    const fish = async (line: string) =>
      (
        await promisify(execFile)(
          'fish',
          ['--no-config', '-c', 'broker completion fish | source; complete -C $argv[1]', line],
          {
            env,
          },
        )
      ).stdout
    assert.equal(await fish('broker login openr'), 'openrouter\tOpenRouter\n')
    assert.match(await fish('broker daemon '), /^restart\tstop and start$/m)
  })

  it('are given by zsh', { skip: whyNot('zsh') || whyNot('python3') }, async (t) => {
    const zsh = findProgram('zsh') ?? ''
    const terminal = await atOwnTerminal(t, [zsh, '-f', '-i'], { cwd: world.folder, env, columns: 120 })
    terminal.type(
      'PS1="ready> "; autoload -U compinit; compinit -u -D; source <(broker completion zsh); print loa""ded\n',
    )
    await terminal.sees(/loaded\s/)
    await terminal.sees(/ready> /)
    terminal.type('broker daemon resta\t')
    await terminal.sees(/broker daemon restart /)
    terminal.type('\u0015broker login openr\t')
    await terminal.sees(/broker login openrouter /)
    terminal.type('\u0015exit\n')
    await terminal.ended
  })

  it('start no daemon, and say nothing where none runs', async (t) => {
    const other = await onboarded(t)
    await other.daemon.stop()
    for (const typed of [
      ['login', 'openr'],
      ['logout', 'openai', '--connection', ''],
    ]) {
      const { code, stdout, stderr } = await other.broker(['complete-words', '--', ...typed])
      assert.deepEqual([code, stdout, stderr], [0, '', ''])
    }
    assert.equal(existsSync(join(other.home, 'server/daemon.json')), false)
  })

  it('come to an end where what listens does not answer', async (t) => {
    const other = await onboarded(t)
    other.daemon.process.kill('SIGSTOP')
    const { code, stdout, stderr } = await other.broker(['complete-words', '--', 'login', 'openr'])
    assert.deepEqual([code, stdout, stderr], [0, '', ''])
  })
})
