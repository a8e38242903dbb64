import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Broken } from './structured-text.ts'
import { structuredVariables } from './variable-file.ts'

describe('a file of variables', () => {
  it('is one of lines unless its name tells another format', () => {
    for (const path of ['.envrc', 'a/.dev.vars', '.env.json.local', 'toml'])
      assert.equal(structuredVariables(path, '{'), undefined)
    assert.ok(structuredVariables('a/B.JSON', '{') instanceof Broken)
  })

  it('is an agent’s: every env block, wherever it is, and nothing beside', () => {
    const servers = {
      mcpServers: {
        one: { command: 'npx', args: ['CNRYno'], env: { A_KEY: 'CNRYa', COUNT: 3, NOTHING: null } },
        two: {
          url: 'https://mcp.example.com',
          headers: { Authorization: 'Bearer CNRYno' },
          env: { B_KEY: `\${B_KEY}` },
        },
      },
      env: { C_KEY: 'CNRYc', A_KEY: 'CNRYlater' },
      projects: { '/work': { mcpServers: { three: { env: { D_KEY: 'CNRYd' } } } } },
      hooks: [{ env: { E_KEY: 'CNRYe' } }],
    }
    assert.deepEqual(valuesIn('.mcp.json', JSON.stringify(servers)), {
      A_KEY: 'CNRYa',
      B_KEY: `\${B_KEY}`,
      C_KEY: 'CNRYc',
      D_KEY: 'CNRYd',
      E_KEY: 'CNRYe',
    })
  })

  it('is compose’s: the environment of each service, as a mapping or as lines', () => {
    const text = `x-common: &common
  A_KEY: CNRYa
services:
  web:
    image: x
    env_file: .env
    environment:
      <<: *common
      B_KEY: \${B_KEY:-CNRY}
      PORT: 80
      EMPTY:
  worker:
    environment:
      - C_KEY=CNRYc=d
      - PASSED_ON
      - 3
  db: {}
`
    assert.deepEqual(valuesIn('docker-compose.yml', text), {
      A_KEY: 'CNRYa',
      B_KEY: `\${B_KEY:-CNRY}`,
      C_KEY: 'CNRYc=d',
    })
  })

  it('is a secrets.toml: names as they are, and those of a section with it', () => {
    const text = `A_KEY = "CNRYa"\ncount = 3\n[openai]\napi_key = "CNRYo"\nB_KEY = 'CNRYb'\n[my-db.deep]\npassword = "CNRYno"\n`
    assert.deepEqual(valuesIn('.streamlit/secrets.toml', text), {
      OPENAI_API_KEY: 'CNRYo',
      B_KEY: 'CNRYb',
      A_KEY: 'CNRYa',
    })
  })

  it('is one of VS Code or Cursor, with comments and commas at the end', () => {
    const text = '// mine\n{\n  "servers": {\n    "one": { "env": { "A_KEY": "CNRYa", /* b */ }, },\n  },\n}\n'
    assert.deepEqual(valuesIn('.vscode/mcp.json', text), { A_KEY: 'CNRYa' })
    assert.deepEqual(structuredVariables('.cursor/mcp.json', text.replace('"env":', '"env"')), new Broken(4))
  })

  it('says what in the file each variable is for, and has it as often as it is there', () => {
    const services = 'services: {web: {environment: {A_KEY: CNRY1}}, worker: {environment: [A_KEY=CNRY2]}}'
    assert.deepEqual(structuredVariables('compose.yaml', services), [
      { name: 'A_KEY', value: 'CNRY1', of: 'service "web"' },
      { name: 'A_KEY', value: 'CNRY2', of: 'service "worker"' },
    ])
    const servers = { mcpServers: { one: { env: { A_KEY: 'CNRY1' } } }, list: [{ env: { A_KEY: 'CNRY2' } }] }
    assert.deepEqual(structuredVariables('mcp.json', JSON.stringify(servers)), [
      { name: 'A_KEY', value: 'CNRY1', of: '"mcpServers.one"' },
      { name: 'A_KEY', value: 'CNRY2', of: '"list.1"' },
    ])
  })

  it('may have anything where its variables should be', () => {
    for (const [name, text] of [
      ['a.yml', 'services: [x]\n'],
      ['a.yml', 'services: {a: null, b: {environment: x}, c: {environment: [[x]]}}\n'],
      ['a.yml', 'services: &s\n  a: *s\n  environment: *s\n'],
      ['a.json', '{"env": ["A_KEY=CNRY"], "mcpServers": {"env": "x"}}'],
      ['a.json', `${'{"a":'.repeat(5_000)}{"env":{"A_KEY":"CNRY"}}${'}'.repeat(5_000)}`],
      ['a.toml', 'a = [1]\n[[b]]\nc = "d"\n'],
    ] as const)
      assert.deepEqual(structuredVariables(name, text), [], text.slice(0, 50))
  })
})

/** Of each name the first, which counts. */
function valuesIn(path: string, text: string): Readonly<Record<string, string>> {
  const variables = structuredVariables(path, text)
  assert.ok(variables && !(variables instanceof Broken))
  return Object.fromEntries(variables.toReversed().map(({ name, value }) => [name, value]))
}
