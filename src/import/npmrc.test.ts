import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { npmrcKeys } from './npmrc.ts'

const TOKEN = 'npm_CNRYabcdefghijklmnop'

describe('an .npmrc', () => {
  for (const [what, text] of Object.entries({
    'as npm writes it': `//registry.npmjs.org/:_authToken=${TOKEN}\n`,
    'with spaces and Windows line ends': `a=b\r\n //registry.npmjs.org/:_authToken = ${TOKEN} \r\n`,
    'in quotes': `//registry.npmjs.org/:_authToken="${TOKEN}"`,
    'before a comment': `//registry.npmjs.org/:_authToken=${TOKEN} ; mine`,
    'without the slash': `//registry.npmjs.org:_authToken=${TOKEN}`,
    'as the last of two': `//registry.npmjs.org/:_authToken=npm_CNRYold\n//registry.npmjs.org/:_authToken=${TOKEN}`,
  })) {
    test(`gives the token of the public registry ${what}`, () =>
      assert.deepEqual(found(text), { 'registry.npmjs.org': TOKEN }))
  }

  for (const [what, text] of Object.entries({
    'another registry': `//npm.pkg.github.com/:_authToken=${TOKEN}`,
    'a registry below another path': `//registry.npmjs.org/acme/:_authToken=${TOKEN}`,
    'a comment': `# //registry.npmjs.org/:_authToken=${TOKEN}\n;//registry.npmjs.org/:_authToken=${TOKEN}`,
    'a section': `[acme]\n//registry.npmjs.org/:_authToken=${TOKEN}`,
    'an empty token': '//registry.npmjs.org/:_authToken=\n',
    'nothing at all': '',
  })) {
    test(`gives nothing of ${what}`, () => assert.deepEqual(npmrcKeys(text), { keys: new Map() }))
  }

  test('runs nothing, and says where npm takes the token from', () => {
    const read = npmrcKeys(`//registry.npmjs.org/:_authToken=\${NPM_TOKEN}`)
    assert.equal(read.keys.size, 0)
    assert.match(read.elsewhere?.join() ?? '', /environment variable/)
  })

  test('is read in time whatever is in it', { timeout: 5_000 }, () => {
    assert.equal(npmrcKeys(`//registry.npmjs.org/:_authToken=a${' '.repeat(1_000_000)}b`).keys.size, 1)
    assert.equal(npmrcKeys(`${' '.repeat(500_000)}x`).keys.size, 0)
  })
})

function found(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...npmrcKeys(text).keys].map(([host, value]) => [host, value.reveal()]))
}
