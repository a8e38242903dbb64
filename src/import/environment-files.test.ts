import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findVariables } from './environment-files.ts'

test('the environment wins, then .env.development.local, .env.local, .env.development and .env', (t) => {
  const root = folder(t, {
    '.env': 'A_KEY=CNRYa1\nB_KEY=CNRYb1\nC_KEY=CNRYc1\nD_KEY=CNRYd1\nE_KEY=CNRYe1',
    '.env.development': 'A_KEY=CNRYa2\nB_KEY=CNRYb2\nC_KEY=CNRYc2\nD_KEY=CNRYd2',
    '.env.local': 'A_KEY=CNRYa3\nB_KEY=CNRYb3\nC_KEY=CNRYc3',
    '.env.development.local': 'A_KEY=CNRYa4\nB_KEY=CNRYb4',
    '.env.production': 'F_KEY=CNRYf',
  })

  assert.deepEqual(find(root, { A_KEY: 'CNRYa5' }).found, {
    A_KEY: 'CNRYa5 environment',
    B_KEY: 'CNRYb4 .env.development.local',
    C_KEY: 'CNRYc3 .env.local',
    D_KEY: 'CNRYd2 .env.development',
    E_KEY: 'CNRYe1 .env',
  })
})

test('a BOM, export, quotes, comments, Windows line ends and repeated names are read as dotenv reads them', (t) => {
  const root = folder(t, {
    '.env': '\uFEFFexport A_KEY="CNRYa" # mine\r\nB_KEY=CNRYold\r\nB_KEY=\'CNRY#b\'\r\nOTHER=CNRYx\r\n',
  })

  assert.deepEqual(find(root).found, { A_KEY: 'CNRYa .env', B_KEY: 'CNRY#b .env' })
})

test('nothing is run, and what a shell would have to make is no value and said to be none', (t) => {
  const root = folder(t, {})
  const planted = join(root, 'planted')
  writeFileSync(
    join(root, '.env'),
    `A_KEY=$(touch ${planted})CNRY\nB_KEY="x\${CNRY}"\nC_KEY="CNRY1\nCNRY2"\nD_KEY=$CNRY_KEY\nE_KEY=CNRY$1`,
  )

  const { found, skipped } = find(root)

  assert.deepEqual(found, { E_KEY: 'CNRY$1 .env' })
  assert.deepEqual(skipped, [
    'A_KEY in .env was not used: a shell would have to make its value ("$…"), and files are not run',
    'B_KEY in .env was not used: a shell would have to make its value ("$…"), and files are not run',
    'C_KEY in .env was not used: it has several lines, or its quote is not closed',
    'D_KEY in .env was not used: a shell would have to make its value ("$…"), and files are not run',
  ])
  assert.equal(existsSync(planted), false)
})

test('in the environment, where a shell has been at work, a dollar is a dollar', (t) => {
  assert.deepEqual(find(folder(t, {}), { A_KEY: 'CNRY$(x)', B_KEY: ' ', C_KEY: '' }).found, {
    A_KEY: 'CNRY$(x) environment',
  })
})

test('a name that is given with nothing, or with what cannot be used, leaves the place to the next file', (t) => {
  const root = folder(t, { '.env': 'A_KEY=CNRYa\nB_KEY=CNRYb', '.env.local': 'A_KEY=\nB_KEY=$B' })

  assert.deepEqual(find(root).found, { A_KEY: 'CNRYa .env', B_KEY: 'CNRYb .env' })
})

test('what tools read in different ways is not used, and said', (t) => {
  const root = folder(t, {
    '.env': `A_KEY=CNRYabc#def\nC_KEY='CNRYc'x\nD_KEY=CNRYd # mine\nE_KEY="CNRY#e"\nF_KEY=CNRYold#x\nF_KEY=CNRYf\nB_KEY="CNRYb\nG_KEY=CNRYg\nOTHER="x"\n`,
  })

  const { found, skipped } = find(root)

  assert.deepEqual(found, { D_KEY: 'CNRYd .env', E_KEY: 'CNRY#e .env', F_KEY: 'CNRYf .env' })
  assert.deepEqual(skipped, [
    'A_KEY in .env was not used: only some tools take its "#" for the beginning of a comment: put the value in quotes',
    'B_KEY in .env was not used: it has several lines, or its quote is not closed',
    'C_KEY in .env was not used: something follows its closing quote',
    'G_KEY in .env was not read: a quote before it is not closed',
  ])
})

test('others that look like secrets are named, with their first place, and nothing else', (t) => {
  const key = 'CNRY0123456789abcdefgh'
  const root = folder(t, {
    '.env.local': `ACME_API_KEY=${key}\n`,
    '.env': `ACME_API_KEY=${key}\nOTHER_SECRET=${key}\nSHORT_TOKEN=CNRY\nFILLED_TOKEN=your-token-goes-here\nKEYBOARD=${key}\nA_KEY=${key}\n`,
  })

  assert.deepEqual(find(root, { THEIR_PAT: key }).others, [
    'THEIR_PAT environment',
    'ACME_API_KEY .env.local',
    'OTHER_SECRET .env',
  ])
})

test('names that are not asked for do nothing, whatever is in them, and thousands of lines take no time', (t) => {
  const hostile = '\u001b]0;CNRY\u0007=x\n__proto__=CNRY\nconstructor=CNRY\n= CNRY\nA_KEY CNRY\n\u0000'.replace(
    '\u0000',
    '',
  )
  const root = folder(t, {
    '.env': `${hostile}A_KEY=CNRYa\n`,
    '.env.local': 'B_KEY=CNRYb\n'.repeat(50_000),
    '.env.development': 'C_KEY="'.repeat(120_000),
  })
  const began = performance.now()

  const { found, skipped } = find(root)

  assert.deepEqual({ ...found, C_KEY: undefined }, { A_KEY: 'CNRYa .env', B_KEY: 'CNRYb .env.local', C_KEY: undefined })
  assert.deepEqual(skipped, ['C_KEY in .env.development was not used: something follows its closing quote'])
  assert.ok(performance.now() - began < 2_000)
})

test('a file that Windows wrote as UTF-16 is skipped, and said how to mend', (t) => {
  const root = folder(t, {})
  writeFileSync(join(root, '.env'), Buffer.from('\uFEFFA_KEY=CNRYa\r\n', 'utf16le'))

  assert.deepEqual(find(root).skipped, ['.env was not read: it is UTF-16: save it as UTF-8'])
})

test('hostile files are skipped and named: too large, binary, a folder, a link elsewhere', (t) => {
  const elsewhere = folder(t, { secret: 'A_KEY=CNRYother' })
  const root = folder(t, { '.env': 'x'.repeat(1024 * 1024 + 1), '.env.local': 'A_KEY=CNRY\0' })
  mkdirSync(join(root, '.env.development'))
  symlinkSync(join(elsewhere, 'secret'), join(root, '.env.development.local'))

  const { found, skipped } = find(root)

  assert.deepEqual(found, {})
  assert.deepEqual(skipped, [
    '.env.development.local was not read: it is a link out of its folder',
    '.env.local was not read: it is not text',
    '.env.development was not read: it is no regular file',
    '.env was not read: it is larger than 1 MiB',
  ])
})

test('a pipe in the place of a file does not hold the command up', (t) => {
  const root = folder(t, {})
  execFileSync('mkfifo', [join(root, '.env')])

  assert.deepEqual(find(root).skipped, ['.env was not read: it is no regular file'])
})

test('files that are named are read after those of the folder, in their order, and named where they break', (t) => {
  const root = folder(t, {
    '.env': 'A_KEY=CNRYa\n',
    '.envrc': 'source_env ..\nexport A_KEY=CNRYlater\nexport B_KEY="CNRYb"\nexport C_KEY=$(pass show c)\n',
    '.dev.vars': 'B_KEY=CNRYlater\nD_KEY = "CNRYd"\n',
    'secrets.toml': 'E_KEY = "CNRYe"\n',
    'compose.yaml': `services: {a: {environment: {F_KEY: CNRYf, G_KEY: "\${G_KEY}"}}}\n`,
    'broken.json': '{\n"env": {"F_KEY": "CNRY}\n',
  })

  const { found, skipped } = find(root, {}, ['./.envrc', '.dev.vars', 'secrets.toml', 'compose.yaml', 'broken.json'])

  assert.deepEqual(found, {
    A_KEY: 'CNRYa .env',
    B_KEY: 'CNRYb ./.envrc',
    D_KEY: 'CNRYd .dev.vars',
    E_KEY: 'CNRYe secrets.toml',
    F_KEY: 'CNRYf compose.yaml',
  })
  assert.deepEqual(skipped, [
    'A_KEY in ./.envrc was not used: .env has another value',
    'C_KEY in ./.envrc was not used: a shell would have to make its value ("$…"), and files are not run',
    'B_KEY in .dev.vars was not used: ./.envrc has another value',
    'G_KEY in compose.yaml (service "a") was not used: a shell would have to make its value ("$…"), and files are not run',
    'broken.json was not read: line 2 is not written as expected',
  ])
})

test('two values of one name in one file are said, with which was taken; what is the same, or no key, is not', (t) => {
  const service = (key: string) => `{environment: {A_API_KEY: ${key}, B_KEY: CNRYb}}`
  const root = folder(t, {
    'compose.yaml': `services: {web: ${service('CNRY1')}, worker: ${service('CNRY2')}, other: ${service('changeme')}}\n`,
    'one.json': `{"a": {"env": {"C_KEY": "\${C_KEY}"}}, "b": {"env": {"C_KEY": "CNRYc"}}}`,
    'two.toml': 'D_KEY = "CNRYd"\n[d]\nkey = "CNRYother"\n',
  })

  const { found, skipped } = find(root, {}, ['compose.yaml', 'one.json', 'two.toml'])

  assert.deepEqual(found, {
    A_API_KEY: 'CNRY1 compose.yaml',
    B_KEY: 'CNRYb compose.yaml',
    C_KEY: 'CNRYc one.json',
    D_KEY: 'CNRYd two.toml',
  })
  assert.deepEqual(skipped, [
    'A_API_KEY in compose.yaml (service "worker") was not used: service "web" has another value (`broker login <provider> --connection <name>` stores it beside)',
    'C_KEY in one.json ("a") was not used: a shell would have to make its value ("$…"), and files are not run',
    'D_KEY in two.toml (section "d") was not used: its top has another value',
  ])
})

test('a header copied whole is no key, and said to be none', (t) => {
  const root = folder(t, { '.env': 'A_KEY=Bearer CNRYa\nB_KEY="basic CNRYb"\nC_KEY=FlyV1 CNRYc\nD_KEY=BearerCNRYd\n' })

  const { found, skipped } = find(root, { E_KEY: 'token CNRYe' })

  assert.deepEqual(found, { C_KEY: 'FlyV1 CNRYc .env', D_KEY: 'BearerCNRYd .env' })
  assert.deepEqual(skipped, [
    'E_KEY in environment was not used: its first word (token) is no part of a key: leave it out',
    'A_KEY in .env was not used: its first word (Bearer) is no part of a key: leave it out',
    'B_KEY in .env was not used: its first word (basic) is no part of a key: leave it out',
  ])
})

function find(root: string, environment: Readonly<Record<string, string>> = {}, files: readonly string[] = []) {
  const skipped: string[] = []
  const names = new Set(['A_KEY', 'A_API_KEY', 'B_KEY', 'C_KEY', 'D_KEY', 'E_KEY', 'F_KEY', 'G_KEY'])
  const { found: variables, others } = findVariables(names, {
    environment,
    folder: root,
    files,
    warn: (message) => skipped.push(message),
  })
  const found = [...variables].map(([name, { value, source }]) => [name, `${value.reveal()} ${source}`])
  return {
    found: Object.fromEntries(found),
    skipped,
    others: others.map(({ name, source }) => `${name} ${source}`),
  }
}

function folder(t: TestContext, files: Readonly<Record<string, string>>): string {
  const path = mkdtempSync(join(tmpdir(), 'broker-test-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
  return path
}
