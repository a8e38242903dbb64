import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FROM_WORDS } from '../cli/command-words.ts'
import { createProgram } from '../cli/program.ts'
import { BrokerError } from '../protocol/index.ts'
import { type FoundKey, findKeys, type KeySourceName, SOURCE_NAMES, sourcesNamed } from './key-sources.ts'

const GH = 'github.com:\n    user: ada\n    oauth_token: gho_CNRY1\n'
const NPM = '//registry.npmjs.org/:_authToken=npm_CNRY2\n'
const NETRC = 'machine api.heroku.com login ada password CNRY3\nmachine unknown.example login ada password CNRY4\n'
const ALL: readonly KeySourceName[] = ['gh', 'npm', 'netrc']

test('each source is read where its program keeps it, and gives the keys of known hosts', (t) => {
  const home = folder(t, { '.config/gh/hosts.yml': GH, '.npmrc': NPM, '.netrc': NETRC })

  assert.deepEqual(find(home, ALL), {
    found: ['api.github.com gho_CNRY1 gh', 'registry.npmjs.org npm_CNRY2 npm', 'api.heroku.com CNRY3 netrc'],
    said: [],
  })
})

test('each source is read where the environment says', (t) => {
  const home = folder(t, { 'xdg/gh/hosts.yml': GH, 'own/hosts.yml': GH.replace('1', '5'), npmrc: NPM, netrc: NETRC })
  const gh = (environment: Readonly<Record<string, string>>) => find(home, ['gh'], environment).found
  const environment = { NETRC: join(home, 'netrc'), NPM_CONFIG_USERCONFIG: join(home, 'npmrc') }

  assert.deepEqual(gh({ XDG_CONFIG_HOME: join(home, 'xdg') }), ['api.github.com gho_CNRY1 gh'])
  assert.deepEqual(gh({ XDG_CONFIG_HOME: join(home, 'xdg'), GH_CONFIG_DIR: join(home, 'own') }), [
    'api.github.com gho_CNRY5 gh',
  ])
  assert.equal(find(home, ['npm', 'netrc'], environment).found.length, 2)
  assert.equal(find(home, ['npm'], { npm_config_userconfig: join(home, 'npmrc') }).found.length, 1)
})

test('the files of aws, docker and gcloud are read where they are, and where the environment says', (t) => {
  const aws = '[default]\naws_access_key_id = AKIACNRY\naws_secret_access_key = CNRYs\n'
  const docker = JSON.stringify({ auths: { 'ghcr.io': { auth: btoa('ada:CNRYp') } } })
  const gcloud = JSON.stringify({ type: 'service_account', private_key: 'CNRY' })
  const home = folder(t, {
    '.aws/credentials': aws,
    '.docker/config.json': docker,
    '.config/gcloud/application_default_credentials.json': gcloud,
  })
  const elsewhere = folder(t, { credentials: '', config: aws, 'config.json': docker, 'key.json': gcloud })
  const expected = {
    found: ['aws default AKIACNRY CNRYs aws', 'ghcr.io ada CNRYp docker', `google-cloud ${gcloud} gcloud`],
    said: [],
  }

  assert.deepEqual(find(home, ['aws', 'docker', 'gcloud']), expected)
  assert.deepEqual(
    find(folder(t, {}), ['aws', 'docker', 'gcloud'], {
      AWS_SHARED_CREDENTIALS_FILE: join(elsewhere, 'credentials'),
      AWS_CONFIG_FILE: join(elsewhere, 'config'),
      DOCKER_CONFIG: elsewhere,
      GOOGLE_APPLICATION_CREDENTIALS: join(elsewhere, 'key.json'),
    }),
    expected,
  )
  assert.deepEqual(find(folder(t, {}), ['aws']).said, [
    'No key was found in the AWS credentials file and the AWS config file: they do not exist',
  ])
})

test('nothing is read that was not asked for', (t) => {
  const home = folder(t, { '.npmrc': NPM, '.netrc': 'malformed' })

  assert.deepEqual(find(home, ['npm']), { found: ['registry.npmjs.org npm_CNRY2 npm'], said: [] })
})

test('a source that has nothing says so, and why', (t) => {
  const home = folder(t, { '.config/gh/hosts.yml': 'github.com:\n    user: ada\n', '.netrc': 'machine x.example' })

  assert.deepEqual(find(home, ALL).said, [
    "the GitHub CLI's hosts.yml: the GitHub CLI keeps its token in the keyring of the operating system; `gh auth token | broker login github` stores it",
    "No key was found in npm's .npmrc: it does not exist",
    'No key of a provider was found in the .netrc',
  ])
})

test('hostile files are skipped and named: malformed, too large, binary, a folder, a pipe, a link elsewhere', (t) => {
  const elsewhere = folder(t, { npmrc: NPM })
  const one = folder(t, {
    '.config/gh/hosts.yml': '- CNRY',
    '.npmrc': `${NPM}\0`,
    '.netrc': ' '.repeat(1024 * 1024 + 1),
  })
  const two = folder(t, { '.config/gh/hosts.yml/folder': '' })
  symlinkSync(join(elsewhere, 'npmrc'), join(two, '.npmrc'))
  execFileSync('mkfifo', [join(two, '.netrc')])

  assert.deepEqual(find(one, ALL), {
    found: [],
    said: [
      "the GitHub CLI's hosts.yml was not read: line 1 is not written as expected",
      "npm's .npmrc was not read: it is not text",
      'the .netrc was not read: it is larger than 1 MiB',
    ],
  })
  assert.deepEqual(find(two, ALL), {
    found: [],
    said: [
      "the GitHub CLI's hosts.yml was not read: it is no regular file",
      "npm's .npmrc was not read: it is a link out of its folder",
      'the .netrc was not read: it is no regular file',
    ],
  })
})

test('a file that stands where a folder should, or a path no file can have, ends nothing', (t) => {
  const home = folder(t, { '.config': 'x' })

  assert.equal(find(home, ['gh']).found.length, 0)
  assert.match(find(home, ['netrc'], { NETRC: 'x'.repeat(5_000) }).said.join(), /it cannot be read \(ENAMETOOLONG\)/)
})

test('what cannot be imported from is refused, and not repeated', (t) => {
  const around = { folder: folder(t, { '.envrc': '' }), home: '/nowhere', environment: {} }
  const refused = (...names: readonly string[]) => {
    try {
      return sourcesNamed(names, around)
    } catch (error) {
      return error instanceof BrokerError ? [error.name, error.message] : error
    }
  }
  const refusal = ['InvalidRequestError', 'What `--from` names is no place that keys can be imported from']

  assert.deepEqual(refused('gh', 'npm', 'gh', './.envrc', '.envrc', 'mcp'), {
    programs: ['gh', 'npm'],
    files: ['./.envrc', '.envrc'],
    nowhere: ['mcp'],
  })
  assert.deepEqual(refused('sk-CNRY'), refusal)
  assert.deepEqual(refused('CNRY.not/there'), refusal)
  assert.deepEqual(refused('constructor'), [
    'InvalidRequestError',
    'What `--from` names "constructor" is no place that keys can be imported from',
  ])
  assert.deepEqual(refused('gh', 'npm', 'sk-CNRY'), [
    'InvalidRequestError',
    'What `--from` names, in place 3 of 3, is no place that keys can be imported from',
  ])
  assert.deepEqual(refused('gh', './none.env'), [
    'InvalidRequestError',
    'What `--from` names, in place 2 of 2, "./none.env" is not there',
  ])
  assert.throws(
    () => sourcesNamed(['dokcer'], around),
    (error) => error instanceof BrokerError && /^Did you mean docker\? Keys can/.test(error.options.hint ?? ''),
  )
})

test('an agent’s folder, and a word for it, name the files of it that are there', (t) => {
  const home = folder(t, { '.cursor/mcp.json': '{}', '.claude.json': '{}', '.claude/settings.json': '{}' })
  const here = folder(t, { '.claude/settings.local.json': '{}', '.mcp.json': '{}', 'compose.yml': '' })
  const named = (...names: readonly string[]) => sourcesNamed(names, { folder: here, home, environment: {} }).files

  assert.deepEqual(named('./.claude'), [join(here, '.claude/settings.local.json')])
  assert.deepEqual(named('claude'), [
    join(here, '.claude/settings.local.json'),
    join(here, '.mcp.json'),
    join(home, '.claude/settings.json'),
    join(home, '.claude.json'),
  ])
  assert.deepEqual(named('cursor', 'mcp', 'compose'), [
    join(home, '.cursor/mcp.json'),
    join(here, '.mcp.json'),
    join(here, 'compose.yml'),
  ])
})

test('every word is in the help and among what is completed', () => {
  assert.deepEqual(FROM_WORDS.toSorted(), SOURCE_NAMES.toSorted())
  const program = createProgram('0', async () => undefined)
  const help = program.commands.find((command) => command.name() === 'onboard')?.helpInformation() ?? ''
  const words = help.replace(/\s+/g, ' ').match(/a file, or ([\w, ]+?) --/)?.[1]
  assert.deepEqual(words?.trim().split(', ').toSorted(), SOURCE_NAMES.toSorted())
})

function find(home: string, sources: readonly KeySourceName[], environment: Readonly<Record<string, string>> = {}) {
  const said: string[] = []
  const say = (text: string) => void said.push(text)
  const known = new Set(['api.github.com', 'registry.npmjs.org', 'api.heroku.com', 'ghcr.io', 'aws', 'google-cloud'])
  const isKnown = (owner: FoundKey['owner']) => Object.values(owner).every((name) => known.has(name))
  const keys = findKeys(sources, { environment, home, isKnown, warn: say, note: say })
  return {
    found: keys.map(({ owner, connection, values, source }) =>
      [...Object.values(owner), connection, ...Object.values(values).map((value) => value.reveal()), source]
        .filter((text) => text !== undefined)
        .join(' '),
    ),
    said,
  }
}

function folder(t: TestContext, files: Readonly<Record<string, string>>): string {
  const path = mkdtempSync(join(tmpdir(), 'broker-test-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return path
}
