import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { whyNot } from '../tools/available.ts'
import { bearerDefinition } from './acme-home.ts'
import { BROKER, type BrokerHome, logIn, onboarded } from './broker-command.ts'
import { atOwnTerminal } from './own-terminal.ts'

/** Definitions as people handle them: read, edited, checked, carried elsewhere. */
describe('provider definitions as files', () => {
  let world: BrokerHome
  const cleanups: (() => unknown)[] = []
  const cleanup = { after: (work: () => unknown) => void cleanups.unshift(work) }
  before(async () => {
    world = await onboarded(cleanup)
  })
  after(async () => {
    for (const work of cleanups) await work()
  })

  const put = (name: string, content: unknown) => {
    const path = join(world.folder, name)
    writeFileSync(path, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content))
    return name
  }
  const folder = (name: string, files: Readonly<Record<string, unknown>>) => {
    mkdirSync(join(world.folder, name))
    for (const [file, content] of Object.entries(files)) put(join(name, file), content)
    return name
  }
  const custom = async () => JSON.parse((await world.broker(['provider', 'list', '--json'])).stdout).custom

  for (const [what, args] of [
    ['what `inspect` prints', ['provider', 'inspect', 'openai']],
    ['the definition alone', ['provider', 'inspect', 'openai', '--definition']],
    ['what `export` prints', ['provider', 'export', 'openai']],
  ] as const) {
    it(`registers ${what}, edited`, async () => {
      const shown = await world.broker(args)
      const edited = shown.stdout.replace(/"display_name": "[^"]*"/, `"display_name": "Ours"`)
      const done = await world.broker(['provider', 'register', '-', '--force'], { input: edited })

      assert.equal(done.code, 0, done.stderr)
      const now = JSON.parse((await world.broker(['provider', 'inspect', 'openai'])).stdout).definition
      const before = JSON.parse(shown.stdout)
      assert.deepEqual(now, { ...(before.definition ?? before), display_name: 'Ours', source: 'custom' })
      const kept = JSON.parse(readFileSync(join(world.home, 'providers/openai.json'), 'utf8'))
      assert.equal('source' in kept, false)
      assert.equal((await world.broker(['provider', 'remove', 'openai', '--yes'])).code, 0)
    })
  }

  it('says all that is wrong at once, with its line, and asks no daemon', async () => {
    const file = put(
      'wrong.json',
      JSON.stringify(
        {
          schema_version: 1,
          name: 'wrong',
          auth_type: 'api_key',
          flow: 'api_key',
          hosts: ['https://api.acme.example/v1', 'API.acme.example', 'api.acme.example/', '*.com'],
          colour: 'red',
          env: { PATH: 'credential' },
          api_key: { header_name: 'Host' },
        },
        undefined,
        1,
      ),
    )
    const done = await world.broker(['provider', 'validate', file, '--json'], { env: { BROKER_PORT: '1' } })

    assert.equal(done.code, 2)
    const { error, results } = JSON.parse(done.stdout)
    assert.equal(error, 'InvalidRequestError')
    assert.deepEqual(
      results[0].problems.map(({ path, line }: { path: string; line: number }) => [path, line]),
      [
        ['display_name', 1],
        ['colour', 12],
        ['hosts.0', 7],
        ['hosts.1', 8],
        ['hosts.2', 9],
        ['hosts.3', 10],
        ['env.PATH', 14],
        ['api_key.header_name', 17],
      ],
    )
    const said = (await world.broker(['provider', 'validate', file])).stdout
    assert.match(said, /^wrong\.json:1: display_name is required$/m)
    assert.match(said, /^wrong\.json:7: hosts\.0 must be a host, not a URL: write "api\.acme\.example\/v1\/\*"$/m)
    assert.match(said, /hosts\.1 .*: write "api\.acme\.example"$/m)
    assert.match(said, /hosts\.2 .*: write "api\.acme\.example"$/m)
  })

  it('warns of what a good definition competes with, and says that it is good', async () => {
    const file = put('rival.json', bearerDefinition('rival', 'api.openai.com'))
    const done = await world.broker(['provider', 'validate', file])

    assert.deepEqual([done.code, done.stdout], [0, 'rival.json: ok, rival\n'])
    assert.match(done.stderr, /api\.openai\.com belongs to provider "openai" too/)
  })

  for (const [what, content, said] of [
    ['nothing', '', /it is empty/],
    ['white space', ' \n', /it is empty/],
    ['a picture', Buffer.from('89504e470d0a1a0a0000', 'hex'), /it is not text/],
    ['UTF-16', Buffer.from('\uFEFF{"name":1}', 'utf16le'), /it is UTF-16: save it as UTF-8/],
    ['Latin-1', Buffer.from('{"name":"Zo\xeb"}', 'latin1'), /it is not UTF-8 text/],
    ['YAML', '# ours\nname: acme\nhosts:\n  - api.acme.example\n', /it is YAML; a definition is JSON/],
    ['another file', 'OPENAI_API_KEY=sk-CNRYsecret\n', /it is not JSON\n/],
    ['a list of nothing', '[]', /the list has no definition/],
    ['a text', '["acme"]', /it is not a JSON object/],
    [
      'a catalogue',
      '{"format":"broker-catalogue/1","payload":"e30"}',
      /it is a signed catalogue\n.*broker provider update/,
    ],
    [
      'a comment',
      '{\n  "name": "acme", // ours\n  "hosts": []\n}',
      /line 2, column 19: there is a comment, which JSON does not have\n +line 2 "name": "acme", \/\/ ours/,
    ],
    [
      'a comma too many',
      '{\n  "hosts": ["a.example"],\n}',
      /line 2, column 25: there is a comma with nothing behind it/,
    ],
    [
      'a field given twice',
      '{"name": "a",\n"name": "b"}',
      /line 2, column 1: the field "name" is given twice, first in line 1/,
    ],
    [
      'a key of something else',
      '{"private_key": "CNRYsecret",\n"x": CNRYother}',
      /line 2, column 6: a value is neither/,
    ],
  ] as const) {
    it(`says of ${what} what it is`, async () => {
      const file = put('odd.json', content)
      const done = await world.broker(['provider', 'register', file, '--yes'])

      assert.equal(done.code, 2)
      assert.match(done.stderr, said)
      assert.doesNotMatch(done.stderr, /CNRY/)
    })
  }

  it('takes a byte order mark, which editors put', async () => {
    const file = put('marked.json', `\uFEFF${JSON.stringify(bearerDefinition('marked', 'marked.example'))}`)

    assert.equal((await world.broker(['provider', 'register', file, '--yes'])).code, 0)
  })

  it('names the line of what the daemon refuses', async () => {
    const definition = { ...bearerDefinition('lined', 'lined.example'), hosts: ['lined.example', 'lined.example.'] }
    const file = put('lined.json', JSON.stringify(definition, undefined, 1))
    const done = await world.broker(['provider', 'register', file, '--yes', '--json'])

    assert.equal(done.code, 2)
    assert.match(JSON.parse(done.stdout).details[0].message, /write "lined\.example" \(line 9\)$/)
  })

  it('registers a folder: none of it where one is wrong, all of it otherwise', async () => {
    const good = {
      'one.json': bearerDefinition('one', 'one.example'),
      'two.json': bearerDefinition('two', 'two.example'),
    }
    const bad = { 'bad.json': '{,}', 'worse.json': bearerDefinition('worse', 'worse'), 'notes.txt': 'x' }
    const mixed = await world.broker(['provider', 'register', folder('mixed', { ...good, ...bad }), '--yes', '--json'])

    assert.equal(mixed.code, 2)
    const { status, error, results } = JSON.parse(mixed.stdout)
    assert.deepEqual([status, error], ['failed', 'InvalidRequestError'])
    assert.deepEqual(
      results.map((one: { file: string; status: string }) => [one.file, one.status]),
      [
        ['mixed/bad.json', 'failed'],
        ['mixed/one.json', 'valid'],
        ['mixed/two.json', 'valid'],
        ['mixed/worse.json', 'failed'],
      ],
    )
    assert.equal(
      (await custom()).some(({ name }: { name: string }) => name === 'one'),
      false,
    )

    const whole = await world.broker(['provider', 'register', folder('whole', good), '--yes'])
    assert.equal(whole.code, 0, whole.stderr)
    assert.equal((await custom()).filter(({ name }: { name: string }) => ['one', 'two'].includes(name)).length, 2)

    const again = await world.broker(['provider', 'register', 'whole', '--yes', '--json'])
    assert.deepEqual([again.code, JSON.parse(again.stdout).error], [7, 'ProviderAlreadyRegisteredError'])
    assert.equal((await world.broker(['provider', 'register', 'whole', '--force'])).code, 0)
  })

  it('takes two of a folder that want one host, or one name, for a conflict', async () => {
    const rivals = folder('rivals', {
      'a.json': bearerDefinition('rivala', 'rivals.example'),
      'b.json': bearerDefinition('rivalb', 'rivals.example'),
    })
    const twins = folder('twins', {
      'a.json': bearerDefinition('twin', 'a.twins.example'),
      'b.json': bearerDefinition('twin', 'b.twins.example'),
    })

    assert.equal((await world.broker(['provider', 'register', rivals, '--yes'])).code, 7)
    assert.equal((await world.broker(['provider', 'register', twins, '--force'])).code, 2)
    assert.equal(
      (await custom()).some(({ name }: { name: string }) => /rival[ab]|twin/.test(name)),
      false,
    )
  })

  it('exports what registers elsewhere', async (t) => {
    const elsewhere = await onboarded(t)
    const exported = await world.broker(['provider', 'export', '--all-custom'])
    const done = await elsewhere.broker(['provider', 'register', '-', '--yes'], { input: exported.stdout })
    assert.equal(done.code, 0, done.stderr)
    assert.deepEqual(
      JSON.parse((await elsewhere.broker(['provider', 'export', '--all-custom'])).stdout),
      JSON.parse(exported.stdout),
    )

    const intoFolder = ['provider', 'export', 'one', 'two', '--out', 'out']
    assert.equal((await world.broker(intoFolder)).stdout, 'out/one.json\nout/two.json\n')
    assert.equal((await world.broker(intoFolder)).code, 2)
    assert.equal((await world.broker([...intoFolder, '--force'])).code, 0)
    assert.equal((await world.broker(['provider', 'validate', 'out'])).code, 0)
    assert.equal((await world.broker(['provider', 'export'])).code, 2)
    assert.equal((await world.broker(['provider', 'export', 'one', '--all-custom'])).code, 2)
    assert.equal((await world.broker(['provider', 'export', 'onee'])).code, 4)
  })

  it('begins a definition by options, which is a good one and is not overwritten', async () => {
    const made = ['provider', 'new', 'fresh', '--host', 'https://api.fresh.example/v1', '--header', 'X-Api-Key']
    const done = await world.broker([...made, '--env', 'FRESH_KEY', '--docs', 'https://fresh.example/keys'])

    assert.equal(done.code, 0, done.stderr)
    assert.match(done.stderr, /broker provider register fresh\.json/)
    assert.match(done.stderr, /The key goes to api\.fresh\.example\/v1\/\* alone/)
    assert.deepEqual(JSON.parse(readFileSync(join(world.folder, 'fresh.json'), 'utf8')), {
      schema_version: 1,
      name: 'fresh',
      display_name: 'Fresh',
      docs_url: 'https://fresh.example/keys',
      auth_type: 'api_key',
      flow: 'api_key',
      hosts: ['api.fresh.example/v1/*'],
      env: { FRESH_KEY: 'credential' },
      api_key: { header_name: 'X-Api-Key' },
    })
    assert.equal((await world.broker(made)).code, 2)
    assert.equal((await world.broker([...made, '--force'])).code, 0)
    const printed = await world.broker([...made, '--out', '-'])
    const registered = await world.broker(['provider', 'register', '-', '--yes'], { input: printed.stdout })
    assert.equal(registered.code, 0, registered.stderr)
  })

  it('keeps the path of an address that is pasted, however it ends', async () => {
    for (const [given, kept] of [
      ['https://api.acme.example/', 'api.acme.example'],
      ['api.acme.example/v1/', 'api.acme.example/v1/*'],
      ['api.acme.example/v1/*', 'api.acme.example/v1/*'],
      ['https://api.acme.example:8443/a/b?x=1#y', 'api.acme.example:8443/a/b/*'],
    ] as const) {
      const { stdout, stderr } = await world.broker(['provider', 'new', 'pasted', '--host', given, '--out', '-'])
      assert.deepEqual(JSON.parse(stdout).hosts, [kept], stderr)
    }
  })

  it('writes nothing where the definition would not be a good one, or the host is not known', async () => {
    const wide = await world.broker(['provider', 'new', 'wide', '--host', '*.com'])
    const none = await world.broker(['provider', 'new', 'none'])

    assert.deepEqual([wide.code, none.code], [2, 2])
    assert.match(wide.stderr, /hosts\.0/)
    assert.match(none.stderr, /--host api\.none\.example/)
    assert.equal(existsSync(join(world.folder, 'wide.json')), false)
  })

  it('asks for what is not given where somebody can answer', { skip: whyNot('python3') }, async (t) => {
    const terminal = await atOwnTerminal(t, [BROKER, 'provider', 'new', 'asked'], { cwd: world.folder, env: world.env })
    await terminal.sees(/Hosts of the API/)
    terminal.type('https://api.asked.example/v2, eu.asked.example\r')
    await terminal.sees(/How is the key sent/)
    terminal.type('Authorization: Token KEY\r')
    await terminal.sees(/Environment variable/)
    terminal.type('ASKED_TOKEN\r')
    await terminal.sees(/Look at it, then: broker provider register asked\.json/)

    assert.equal((await terminal.ended).code, 0)
    const { hosts, api_key, env } = JSON.parse(readFileSync(join(world.folder, 'asked.json'), 'utf8'))
    assert.deepEqual(
      { hosts, api_key, env },
      {
        hosts: ['api.asked.example/v2/*', 'eu.asked.example'],
        api_key: { prefix: 'Token' },
        env: { ASKED_TOKEN: 'credential' },
      },
    )
  })

  it('says which provider was meant, wherever one is named', async () => {
    await logIn(world, 'openai', 'sk-CNRYkeyofopenai')
    for (const args of [
      ['login', 'opnai'],
      ['logout', 'opnai'],
      ['provider', 'inspect', 'opnai'],
      ['provider', 'export', 'opnai'],
      ['provider', 'remove', 'opnai', '--yes'],
      ['provider', 'revoke', 'opnai', '--yes'],
      ['connections', 'inspect', 'opnai'],
      ['connections', 'approve', 'opnai', '--yes'],
      ['connections', 'set-default', 'opnai', 'work'],
      ['run', '--only', 'opnai', '--', 'true'],
      ['run', '--connection', 'opnai=work', '--', 'true'],
      ['login', 'OpenAI'],
      ['login', 'Open AI'],
    ]) {
      const { code, stderr } = await world.broker(args)
      assert.ok(code === 3 || code === 4, `${args.join(' ')}: ${code}`)
      assert.match(stderr, /Did you mean openai(?: or open-ai)?\?/, args.join(' '))
    }
    assert.match((await world.broker(['why', 'openai'])).stderr, /broker why api\.openai\.com/)
  })

  it('says which command or option was meant', async () => {
    for (const [args, meant] of [
      [['lgout', 'openai'], /did you mean "broker logout"/],
      [['provider', 'lst'], /did you mean "broker provider list"/],
      [['provider', 'validat', 'x'], /did you mean "broker provider validate"/],
      [['conections'], /did you mean "broker connections"/],
      [['login', 'openai', '--conection', 'x'], /--connection/],
      [['provider', 'register', 'x', '--focre'], /--force/],
    ] as const) {
      const { code, stderr } = await world.broker(args)
      assert.equal(code, 2)
      assert.match(stderr, meant)
    }
  })

  it("takes a tenant's name, or its host, for its address", async () => {
    await logIn(world, 'shopify', `shpat_${'0'.repeat(24)}CNRYcafe`.replace('CNRY', 'aaaa'), ['--base-url', 'MyShop'])
    const inspected = await world.broker(['connections', 'inspect', 'shopify', '--json'])

    assert.equal(JSON.parse(inspected.stdout).connections[0].base_url, 'https://myshop.myshopify.com')
    const evil = await world.broker(['login', 'shopify', '--base-url', 'myshop.evil.example'], { input: 'x\n' })
    assert.equal(evil.code, 2)
    assert.match(evil.stderr, /hint: broker login shopify --base-url https:\/\/\{shop\}\.myshopify\.com/)
  })
})
