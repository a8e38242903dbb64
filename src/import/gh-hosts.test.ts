import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ghHostKeys } from './gh-hosts.ts'
import { Broken } from './structured-text.ts'

const TOKEN = 'gho_CNRYabcdefghijklmnopqrstuvwxyz012345'

describe('the hosts.yml of the GitHub CLI', () => {
  test('gives the token of github.com and of no other host', () => {
    assert.deepEqual(
      found(`---
# written by gh
ghe.example.com:8443:
    oauth_token: gho_CNRYother
github.com:
    user: "123"
    git_protocol: https
    editor: code -w
    users:
        "123":
            oauth_token: gho_CNRYsecond
        octo-cat_corp:
    oauth_token: '${TOKEN}'
`),
      { 'api.github.com': TOKEN },
    )
  })

  test('may be written on Windows, and be indented by two', () => {
    assert.deepEqual(found(`github.com:\r\n  oauth_token: ${TOKEN}\r\n  user: ada\r\n`), { 'api.github.com': TOKEN })
  })

  test('says where the token is when the keyring has it', () => {
    const read = parsed('github.com:\n    users:\n        ada: {}\n    git_protocol: ssh\n    user: ada\n')
    assert.equal(read.keys.size, 0)
    assert.match(read.elsewhere?.join() ?? '', /keyring of the operating system/)
  })

  test('names the token of a GitHub Enterprise, and the command for it', () => {
    assert.deepEqual(parsed('ghe.example.com:\n    oauth_token: gho_CNRYother\n').elsewhere, [
      'the token of ghe.example.com is for a GitHub Enterprise of its own: `broker login github --base-url https://ghe.example.com`',
    ])
  })

  for (const [what, text] of Object.entries({
    'nothing at all': '',
    'another host alone': 'ghe.example.com:\n    oauth_token: gho_CNRYother\n',
    'a host without anybody': 'github.com: {}\n',
  })) {
    test(`has no key in ${what}`, () => assert.equal(keysIn(text).size, 0))
  }

  for (const [what, text] of Object.entries({
    'a list': 'github.com:\n    - oauth_token: x\n',
    'a tab': 'github.com:\n\toauth_token: x\n',
    'an alias': 'github.com: *other\n',
    'an anchor': 'github.com: &other\n    oauth_token: x\n',
    'a tag': 'github.com:\n    oauth_token: !!str x\n',
    'a block of text': 'github.com:\n    oauth_token: |\n        x\n',
    'a flow mapping': 'github.com: { oauth_token: x }\n',
    'an escape': 'github.com:\n    oauth_token: "\\x41"\n',
    'a comment after a value': 'github.com:\n    oauth_token: x # mine\n',
    'a continued value': 'github.com:\n    oauth_token: x\n        y\n',
    'a block below a value': 'github.com:\n    user: x\n        oauth_token: y\n',
    'a block where the token should be': 'github.com:\n    oauth_token:\n        user: y\n',
    'an indent that matches nothing': 'github.com:\n        user: x\n    oauth_token: y\n',
    'an indented beginning': '    github.com:\n        user: x\n',
    'a host that is there twice': 'github.com:\n    user: x\ngithub.com:\n    oauth_token: y\n',
    'a second document': 'github.com:\n    user: x\n---\n',
    'a merge key': 'github.com:\n    <<: x\n',
    JSON: '{"github.com": {"oauth_token": "x"}}',
    prose: 'hello\n',
  })) {
    test(`is not understood with ${what}`, () => assert.ok(ghHostKeys(text) instanceof Broken))
  }

  for (const [text, line] of [
    ['# mine\ngithub.com:\n    user: x\n    <<: y\n', 4],
    ['github.com:\n    user: x\n\ngithub.com:\n    user: y\n', 4],
    ['github.com:\n        user: x\n    oauth_token: y\n', 3],
  ] as const)
    test(`breaks in line ${line}: ${JSON.stringify(text)}`, () => assert.deepEqual(ghHostKeys(text), new Broken(line)))

  test('is read in time whatever is in it', { timeout: 5_000 }, () => {
    assert.ok(ghHostKeys(`a:\n${' '.repeat(500_000)}x`) instanceof Broken)
    assert.ok(ghHostKeys(`a: x${' '.repeat(500_000)}\ry`) instanceof Broken)
    const many = Array.from({ length: 60_000 }, (_, at) => `h${at}:\n  u: x`).join('\n')
    assert.deepEqual(keysIn(many).size, 0)
    const deep = Array.from({ length: 1_400 }, (_, at) => `${' '.repeat(at)}a:`).join('\n')
    assert.deepEqual(keysIn(deep).size, 0)
  })
})

function found(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...keysIn(text)].map(([host, value]) => [host, value.reveal()]))
}

function keysIn(text: string) {
  return parsed(text).keys
}

function parsed(text: string) {
  const read = ghHostKeys(text)
  assert.ok(!(read instanceof Broken))
  return read
}
