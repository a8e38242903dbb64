import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { whyNot } from '../tools/available.ts'
import { BROKER, type BrokerHome, logIn, onboarded } from './broker-command.ts'
import { type Caller, owner, suiteCleanup } from './daemon-under-test.ts'
import { type OpenIdProvider, startOpenIdProvider } from './openid-provider.ts'
import { atOwnTerminal, type OwnTerminal } from './own-terminal.ts'
import { filesBelow, searchForSecrets } from './search-for-secret.ts'
import { catalogueText, signer } from './signed-catalogue.ts'

const KEY = 'sk-CNRYabcdefghijklmnopqrstuvwxyz'
const CTRL = { C: '\u0003', D: '\u0004', L: '\u000c', U: '\u0015', Z: '\u001a' }
const PASTED = { begin: '\u001b[200~', end: '\u001b[201~' }

describe('at a terminal', { skip: whyNot('python3') }, () => {
  const cleanup = suiteCleanup()
  let world: BrokerHome
  let ada: Caller
  let provider: OpenIdProvider
  before(async () => {
    provider = await startOpenIdProvider()
    cleanup.after(() => provider.close())
    world = await onboarded(cleanup)
    ada = await owner(world.daemon)
    const { issuer, clients } = provider
    await register('public', { issuer, scopes: ['openid'], client_id: clients.public.id })
    await register('own-app', { issuer, scopes: ['openid'], token_auth_method: 'client_secret_basic' })
    await logIn(world, 'openai', KEY)
    writeFileSync(join(world.folder, 'acme.json'), JSON.stringify(keyed('acme', ['api.acme.example'])))
    await world.broker(['provider', 'register', 'acme.json', '--yes'])
    await logIn(world, 'acme', KEY)
    writeFileSync(join(world.folder, 'moved.json'), JSON.stringify(keyed('acme', ['api.moved.example'])))
    await world.broker(['provider', 'register', 'moved.json', '--force'])
    writeFileSync(join(world.folder, 'new.json'), JSON.stringify(keyed('new', ['api.new.example'])))
    await world.broker(['agent', 'create', 'second'])
    const ours = signer()
    writeFileSync(join(world.folder, 'public.pem'), ours.pem)
    writeFileSync(join(world.folder, 'catalogue.json'), catalogueText([ours], { catalogue_version: '2026-11-22.2' }))
  })

  async function register(name: string, oauth: object): Promise<void> {
    const common = { schema_version: 1, name, display_name: `Provider ${name}`, docs_url: 'https://docs.example/apps' }
    const definition = { ...common, auth_type: 'oauth2', flow: 'pkce', hosts: [`api.${name}.example`], oauth }
    assert.equal((await ada.call('POST', '/api/providers', { definition })).status, 201)
  }

  interface How {
    readonly columns?: number
    readonly env?: Readonly<Record<string, string>>
    readonly redirect?: { readonly stdin?: string; readonly stdout?: string; readonly stderr?: string }
  }

  const start = (args: readonly string[], { env, ...how }: How = {}): Promise<OwnTerminal> =>
    atOwnTerminal(cleanup, [BROKER, ...args], { cwd: world.folder, env: { ...world.env, ...env }, ...how })

  /** All that a cancelled prompt must leave as it was. */
  const state = async () => [
    (await ada.call('GET', '/api/connections')).body.connections.map((one: object) => ({ ...one, last_used_at: 0 })),
    (await ada.call('GET', '/api/providers')).body.custom,
    (await ada.call('GET', '/api/catalogue')).body,
    (await ada.call('GET', '/api/identities')).body,
  ]

  const prompts: readonly (readonly [what: string, args: readonly string[], ...type: readonly string[]])[] = [
    ['a key', ['login', 'openai', '--force']],
    ['an app', ['login', 'own-app']],
    ['the second field', ['login', 'own-app'], 'client\r'],
    ['a key file', ['login', 'github', '--signing-key'], '123456\r'],
    ['whether to replace a connection', ['login', 'openai']],
    ['the address of a tenant', ['login', 'okta', '--base-url', 'https://acme.okta.com']],
    ['the address that a browser ended at', ['login', 'public', '--no-browser']],
    ['whether to approve', ['connections', 'approve', 'acme']],
    ['whether to register', ['provider', 'register', 'new.json']],
    ['whether to overwrite', ['provider', 'register', 'acme.json'], 'y\r'],
    ['the host of a new definition', ['provider', 'new', 'fresh']],
    ['how its key is sent', ['provider', 'new', 'fresh'], 'api.fresh.example\r'],
    ['whether to use a catalogue', ['provider', 'update', 'catalogue.json', '--key', 'public.pem']],
    ['whether to go back', ['provider', 'update', '--reset']],
    ['whether to revoke', ['provider', 'revoke', 'openai']],
    ['whether to remove', ['provider', 'remove', 'acme']],
    ['whether to delete a key', ['agent', 'remove', 'second']],
    ['a password', ['admin', 'reset-password', 'ada@example.com']],
    ['a password again', ['admin', 'reset-password', 'ada@example.com'], 'CNRY a long phrase\r'],
  ]
  const endings: readonly (readonly [string, (terminal: OwnTerminal) => void, RegExp])[] = [
    ['Ctrl-D', (terminal) => terminal.type(CTRL.D), /error: The input ended before it was answered/],
    ['Ctrl-C', (terminal) => terminal.type(CTRL.C), /error: Cancelled; nothing was changed/],
    ['SIGTERM', ({ pid }) => process.kill(pid, 'SIGTERM'), /error: Cancelled; nothing was changed/],
    ['SIGHUP', ({ pid }) => process.kill(pid, 'SIGHUP'), /error: Cancelled; nothing was changed/],
  ]

  describe('a prompt', { concurrency: 3 }, () => {
    for (const [what, args, ...typed] of prompts) {
      it(`for ${what} ends with its input, a signal, or the terminal`, async () => {
        const at = async () => {
          const terminal = await start(args)
          await terminal.sees(/> /)
          for (const keys of typed) {
            terminal.type(keys)
            await terminal.sees(/\? [^\n]+\r\n.*?> /s)
          }
          return terminal
        }
        const before = await state()
        for (const [how, end, said] of endings) {
          const terminal = await at()
          end(terminal)
          const { isAsBefore, ...ended } = await terminal.ended
          assert.deepEqual(ended, { code: 2, signal: null }, how)
          assert.equal(isAsBefore, true, how)
          await terminal.sees(said)
        }
        const closed = await at()
        closed.hangUp()
        assert.deepEqual(await closed.ended, { code: 2, signal: null })
        assert.deepEqual(await state(), before)
      })
    }

    it('leaves no login open at the daemon', async () => {
      const terminal = await start(['login', 'public', '--no-browser', '--connection', 'closed'])
      const state = await terminal.sees(/state=([\w-]+)/)
      await terminal.sees(/left > /)
      terminal.hangUp()
      await terminal.ended
      const { body } = await ada.call('GET', '/api/audit/events?event=provider.login_failed&provider=public')
      assert.ok(
        body.events.some(
          (one: { connection: string; reason: string }) => one.connection === 'closed' && one.reason === 'cancelled',
        ),
      )
      const late = await fetch(`${world.daemon.origin}/auth/callback/oauth?code=x&state=${state}`)
      assert.equal(late.status, 400)
    })
  })

  describe('whose browser is on another machine', () => {
    const begin = async (connection: string, env: Readonly<Record<string, string>> = {}) => {
      const terminal = await start(['login', 'public', '--no-browser', '--connection', connection], {
        env,
        columns: 200,
      })
      const url = await terminal.sees(/(http:\S+\/auth\?\S+)/)
      await terminal.sees(/paste that address here\s+9:\d\d left > |paste that address here\s+10:00 left > /)
      return { terminal, ended: await provider.approve(url), url }
    }
    const paste = ({ type }: OwnTerminal, text: string) => type(`${PASTED.begin}${text}${PASTED.end}\r`)

    it('pastes the address that it ended at; a wrong one is explained, and the login waits on', async () => {
      const { terminal, ended, url } = await begin('elsewhere')
      paste(terminal, url)
      await terminal.sees(/This is where the login begins: open it, agree, and paste where the browser ends/)
      await terminal.sees(/left > /)
      paste(terminal, `${ended.slice(0, 60)}\n${ended.slice(60)}`)
      await terminal.sees(/Stored connection "elsewhere"/)
      assert.equal((await terminal.ended).code, 0)
      const code = new URL(ended).searchParams.get('code') ?? ''
      assert.ok(!terminal.shown().includes(code), 'the code is not shown')
      const traces = filesBelow(world.home)
      assert.deepEqual(searchForSecrets(traces, [code]), [])
      assert.ok(!world.daemon.output().includes(code))
    })

    it('is told so first over SSH', async () => {
      const { terminal, ended } = await begin('ssh', { SSH_CONNECTION: '192.0.2.1 1 192.0.2.2 22' })
      assert.match(terminal.shown(), /Log in with the browser of your own machine:\r?\n/)
      paste(terminal, ended)
      assert.equal((await terminal.ended).code, 0)
    })

    it('gives up with Ctrl-C while the provider is asked', async () => {
      const { terminal, ended } = await begin('given-up')
      const held = provider.holdTokenAnswers()
      paste(terminal, ended)
      await held.arrived()
      terminal.type(CTRL.C)
      const { code, isAsBefore } = await terminal.ended
      held.release()
      assert.deepEqual({ code, isAsBefore }, { code: 2, isAsBefore: true })
      assert.equal((await ada.call('GET', '/api/connections/public/given-up')).status, 404)
    })

    it('need not paste where the browser comes back by itself', async () => {
      const { terminal, ended } = await begin('by-itself')
      assert.equal((await fetch(ended)).status, 200)
      await terminal.sees(/Stored connection "by-itself"/)
      assert.deepEqual(await terminal.ended, { code: 0, signal: null, isAsBefore: true })
    })
  })

  describe('while a prompt is open', () => {
    const at = async (connection: string) => {
      const terminal = await start(['login', 'openai', '--connection', connection])
      const page = await terminal.sees(/(http:\S+\/input)/)
      await terminal.sees(/> /)
      return { terminal, page }
    }

    it('the key may be entered on the page', async () => {
      const { terminal, page } = await at('by-page')
      const headers = { 'content-type': 'application/json', accept: 'application/json' }
      const sent = await fetch(page, { method: 'POST', headers, body: JSON.stringify({ input: { api_key: KEY } }) })
      assert.equal(sent.status, 200)
      assert.deepEqual(await terminal.ended, { code: 0, signal: null, isAsBefore: true })
      await terminal.sees(/Stored connection "by-page"/)
    })

    it('the login may be over', async () => {
      const { terminal, page } = await at('over')
      const id = page.split('/').at(-2)
      assert.equal((await ada.call('DELETE', `/api/auth/sessions/${id}`)).status, 200)
      assert.deepEqual(await terminal.ended, { code: 2, signal: null, isAsBefore: true })
      await terminal.sees(/error: .*cancelled/)
    })

    it('another login of the same connection may be first', async () => {
      const [one, two] = [await at('both'), await at('both')]
      one.terminal.type(`${KEY}\r`)
      assert.equal((await one.terminal.ended).code, 0)
      two.terminal.type(`${KEY}\r`)
      assert.deepEqual(await two.terminal.ended, { code: 6, signal: null, isAsBefore: true })
    })
  })

  describe('whose daemon goes away', () => {
    for (const [what, code, said] of [
      ['stopped', 9, /error: The daemon at \S+ does not answer/],
      ['started again', 2, /error: The daemon was started again and has lost this login/],
    ] as const) {
      it(`is told so in the middle of a prompt: ${what}`, async (t) => {
        const other = await onboarded(t)
        const terminal = await atOwnTerminal(t, [BROKER, 'login', 'openai'], { cwd: other.folder, env: other.env })
        await terminal.sees(/> /)
        process.kill(terminal.pid, 'SIGSTOP')
        await other.daemon.stop()
        if (what === 'started again') await other.restart(t)
        process.kill(terminal.pid, 'SIGCONT')
        const { code: actual, isAsBefore } = await terminal.ended
        assert.equal(actual, code, terminal.shown())
        assert.equal(isAsBefore, true)
        await terminal.sees(said)
      })
    }
  })

  describe('who gives an app', () => {
    it('sees where one is made, and each field by its name', async () => {
      const terminal = await start(['login', 'own-app', '--connection', 'seen'])
      await terminal.sees(/Make an app at:\s+https:\/\/docs\.example\/apps\s/)
      await terminal.sees(/\? Provider own-app client ID \(of an OAuth app with the redirect URI http:\/\/127/)
      terminal.type('client\r')
      await terminal.sees(/\? Provider own-app client secret\s+> /)
    })
  })

  describe('with no input at all', { concurrency: 3 }, () => {
    for (const [what, args, code, said] of [
      ['a key', ['login', 'openai', '--force'], 2, /on standard input: it is empty/],
      [
        'an app',
        ['login', 'own-app'],
        2,
        /it is empty\s+hint: Pipe in \{"client_id".*\(make one: https:\/\/docs\.example/s,
      ],
      ['a key file', ['login', 'github', '--signing-key'], 2, /it is empty/],
      ['whether to replace a connection', ['login', 'openai'], 6, /exists already\s+hint: Use --force/],
      [
        'the address of a tenant',
        ['login', 'okta', '--base-url', 'https://acme.okta.com', '--flow', 'api_key'],
        2,
        /it is empty/,
      ],
      ['whether to approve', ['connections', 'approve', 'acme'], 2, /no terminal\s+hint: .*--yes/],
      ['whether to register', ['provider', 'register', 'new.json'], 2, /no terminal\s+hint: .*--yes/],
      ['whether to delete a key', ['agent', 'remove', 'second'], 2, /no terminal\s+hint: .*--yes/],
      ['a password', ['admin', 'reset-password', 'ada@example.com'], 2, /it is empty/],
    ] as const) {
      it(`${what} is not waited for`, async () => {
        const terminal = await start(args, { redirect: { stdin: '/dev/null' } })
        const shown = terminal.sees(said)
        assert.deepEqual(await terminal.ended, { code, signal: null, isAsBefore: true })
        await shown
      })
    }
  })

  describe('what asks nothing', () => {
    for (const [how, end] of [
      ['SIGTERM', ({ pid }) => process.kill(pid, 'SIGTERM')],
      ['SIGHUP', ({ pid }) => process.kill(pid, 'SIGHUP')],
      ['the terminal', (terminal) => terminal.hangUp()],
    ] as const satisfies readonly (readonly [string, (terminal: OwnTerminal) => void])[]) {
      it(`ends by the signal itself: ${how}`, async () => {
        const terminal = await start(['daemon', 'logs', '--follow'])
        await terminal.sees(/\n/)
        end(terminal)
        const { code, signal } = await terminal.ended
        assert.equal(code === 129 ? 1 : signal, how === 'SIGTERM' ? 15 : 1)
      })
    }
  })

  describe('whoever types', { concurrency: 3 }, () => {
    const login = async (connection: string, how: How = {}) => {
      const terminal = await start(['login', 'openai', '--connection', connection], how)
      await terminal.sees(/\? OpenAI API key\s+> /)
      return terminal
    }
    const stored = async (connection: string) =>
      (await ada.call('GET', `/api/connections/openai/${connection}?reveal=true`)).body.credential?.api_key
    const endsWell = async (terminal: OwnTerminal, connection: string) => {
      assert.deepEqual(await terminal.ended, { code: 0, signal: null, isAsBefore: true }, terminal.shown())
      assert.equal(await stored(connection), KEY)
      assert.doesNotMatch(terminal.shown(), /CNRY/)
    }

    it('pastes with a line end: it is not sent before the person says so', async () => {
      const terminal = await login('pasted')
      terminal.type(`${PASTED.begin}${KEY}\r\n${PASTED.end}`)
      await terminal.sees(/\*{33}/)
      terminal.type('\r')
      await endsWell(terminal, 'pasted')
    })

    it('pastes into a terminal that does not say so: the line end sends it', async () => {
      const terminal = await login('plain')
      terminal.type(`${KEY}\n`)
      await endsWell(terminal, 'plain')
    })

    it('pastes twice: the provider takes no such key, and another is asked for', async () => {
      const terminal = await login('twice')
      terminal.type(`${PASTED.begin}${KEY}\n${KEY}${PASTED.end}\r`)
      await terminal.sees(/This must not have white space in it[^\n]+\s+\? OpenAI API key\s+> /)
      terminal.type(`${KEY}\r`)
      await endsWell(terminal, 'twice')
    })

    it('makes the window narrow: the row is drawn anew, and never more than one', async () => {
      const terminal = await login('narrow')
      terminal.type(KEY)
      await terminal.sees(/\*{33}/)
      const before = terminal.shown().length
      terminal.resize(20)
      await terminal.sees(/> \*{16}(?!\*)/)
      assert.doesNotMatch(terminal.shown().slice(before), /\*{18}|\n/)
      terminal.type('\r')
      await endsWell(terminal, 'narrow')
    })

    it('types ahead of the question', async () => {
      const terminal = await start(['login', 'openai', '--connection', 'ahead'])
      terminal.type(`${KEY}\r`)
      assert.equal((await terminal.ended).code, 0)
      assert.equal(await stored('ahead'), KEY)
    })

    it('types the key ahead where it is asked whether to replace one: it does not show, and is no answer', async () => {
      const terminal = await start(['login', 'openai'])
      await terminal.sees(/Replace it\?\s+\(y\/N\) > /)
      terminal.type(`${KEY}\r`)
      await terminal.sees(/Answer y or n/)
      terminal.type('n\r')
      assert.equal((await terminal.ended).code, 2)
      assert.doesNotMatch(terminal.shown(), /CNRY/)
    })

    it('goes back, erases, and mends', async () => {
      const terminal = await login('mended')
      terminal.type(`wrong${CTRL.U}x${KEY.slice(1)}y\u007f\u001b[H\u001b[3~s\u001b[F`)
      terminal.type(`${CTRL.L}\r`)
      await endsWell(terminal, 'mended')
    })

    for (const [what, how] of [
      ['at a terminal without control sequences', { env: { TERM: 'dumb' } }],
      ['in a row of 20 cells', { columns: 20 }],
      ['where no size is known', { columns: 0 }],
      ['in the C locale', { env: { LC_ALL: 'C' } }],
      ['without colors', { env: { NO_COLOR: '1' } }],
      ['while the data go to a file', { redirect: { stdout: '/dev/null' } }],
    ] as const) {
      it(`types ${what}`, async () => {
        const connection = what.replaceAll(/\W+/g, '-')
        const terminal = await login(connection, how)
        terminal.type(`${KEY}\r`)
        await endsWell(terminal, connection)
        if (what.includes('control')) assert.ok(!terminal.shown().includes('\u001b'), terminal.shown())
        if (what.includes('colors')) assert.ok(!terminal.shown().includes('\u001b[3'), terminal.shown())
      })
    }

    it('pastes more than a row, and more than the daemon takes', async () => {
      const terminal = await login('long')
      terminal.type(`${'x'.repeat(70_000)}\r`)
      await terminal.sees(/(must be|too long|at most|longer)[^\n]*\s+\? OpenAI/)
      terminal.type(`${KEY}\r`)
      await endsWell(terminal, 'long')
    })

    it('stops it with Ctrl-Z, and goes on with fg', async () => {
      const shell = ['bash', '--norc', '--noprofile', '-i']
      const terminal = await atOwnTerminal(cleanup, shell, { cwd: world.folder, env: world.env })
      await terminal.sees(/[#$] /)
      terminal.type(`${BROKER} login openai --connection stopped\r`)
      await terminal.sees(/\? OpenAI API key\s+> /)
      terminal.type(KEY.slice(0, 10))
      await terminal.sees(/\*{10}/)
      terminal.type(CTRL.Z)
      await terminal.sees(/Stopped/)
      terminal.type('echo $((40+2))\r')
      await terminal.sees(/42\r\n/)
      terminal.type('fg\r')
      await terminal.sees(/> \*{10}/)
      terminal.type(`${KEY.slice(10)}\r`)
      await terminal.sees(/Stored connection "stopped"/)
      assert.equal(await stored('stopped'), KEY)
    })

    it('presses Ctrl-Z where there is no shell: nothing stops, and nothing shows', async () => {
      const terminal = await login('unstopped')
      terminal.type(CTRL.Z)
      await terminal.sees(/> .*> /s)
      terminal.type(`${KEY}\r`)
      await endsWell(terminal, 'unstopped')
    })

    it('has no terminal to be asked at: nothing that is typed would be hidden, so nothing is read', async () => {
      for (const args of [
        ['login', 'openai', '--connection', 'shown'],
        ['login', 'own-app', '--connection', 'shown'],
        ['admin', 'reset-password', 'a@example.com'],
      ]) {
        const terminal = await start(args, { redirect: { stderr: join(world.folder, 'said') } })
        assert.deepEqual(await terminal.ended, { code: 2, signal: null, isAsBefore: true })
      }
    })
  })
})

function keyed(name: string, hosts: readonly string[]): object {
  const api_key = { header_name: 'Authorization', prefix: 'Bearer' }
  return { schema_version: 1, name, display_name: name, auth_type: 'api_key', flow: 'api_key', hosts, api_key }
}
