import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { packageManifest } from './package-manifest.ts'
import { root } from './source-files.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const json = (path: string) => JSON.parse(read(path))
const yaml = (path: string) => parse(read(path), { strict: true })
const all = (...patterns: string[]) => globSync(patterns, { cwd: root }).toSorted()

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

describe('the workflow that checks each change', () => {
  const workflow = yaml('.github/workflows/check.yml')
  const job = workflow.jobs.check
  const steps: readonly Step[] = job.steps

  it('runs what everybody runs: .ci/run', () => {
    assert.equal(steps.at(-1)?.run, '.ci/run')
    execFileSync('sh', ['-n', join(root, '.ci/run')])
  })

  it('does so on Linux and macOS, with the oldest Node and the pinned one', () => {
    const [pinned] = Object.values<string>(json('tools/node/package.json').optionalDependencies)
    assert.deepEqual(job.strategy.matrix.os, ['ubuntu-latest', 'macos-latest'])
    assert.deepEqual(job.strategy.matrix.node, [24, Number.parseInt(pinned ?? '', 10)])
  })

  it('runs on the Node of its matrix, and not on the one that npm would bring', () => {
    assert.equal(job.env.npm_config_workspaces, 'false')
    assert.deepEqual(json('package.json').workspaces, ['tools/node'])
  })

  it('has the whole history, which a suite reads', () => {
    assert.equal(steps.find(({ uses }) => uses?.startsWith('actions/checkout@'))?.with?.['fetch-depth'], 0)
  })
})

describe('every workflow', () => {
  for (const path of all('.github/workflows/*'))
    it(`needs no secret and may only read: ${path}`, () => {
      assert.doesNotMatch(read(path), /secrets|github\.token|GITHUB_TOKEN|pull_request_target/i)
      assert.deepEqual(yaml(path).permissions, { contents: 'read' })
      for (const { uses } of Object.values<{ steps: Step[] }>(yaml(path).jobs).flatMap(({ steps }) => steps))
        assert.match(uses ?? 'actions/', /^actions\//, 'an action of somebody else')
    })
})

describe('the forms for issues', () => {
  it('are one for a fault and one for a definition', () => {
    const names = all('.github/ISSUE_TEMPLATE/*.yml').filter((path) => !path.endsWith('/config.yml'))
    assert.deepEqual(names, ['.github/ISSUE_TEMPLATE/definition.yml', '.github/ISSUE_TEMPLATE/fault.yml'])
  })

  for (const path of ['.github/ISSUE_TEMPLATE/definition.yml', '.github/ISSUE_TEMPLATE/fault.yml'])
    it(`have what GitHub asks of a form, and warn of keys: ${path}`, () => {
      const { name, description, body } = yaml(path)
      assert.ok(name.length > 0 && description.length > 0 && description.length <= 200)
      for (const field of body) assertField(field)
      const ids = body.flatMap(({ id }: Field) => id ?? [])
      assert.equal(new Set(ids).size, ids.length)
      assert.match(body[0].attributes.value, /Put no key/)
    })

  it('ask of a definition for provider, host and source', () => {
    const needed = yaml('.github/ISSUE_TEMPLATE/definition.yml').body.flatMap((field: Field) =>
      field.validations?.required ? field.id : [],
    )
    assert.deepEqual(needed, ['provider', 'part', 'host', 'source'])
  })
})

interface Field {
  readonly type: string
  readonly id?: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly validations?: { readonly required: boolean }
}

/** GitHub's form schema: a note has a value; all else has an id and a label, and a choice its options. */
function assertField({ type, id, attributes }: Field): void {
  assert.match(type, /^(?:markdown|textarea|input|dropdown|checkboxes)$/)
  assert.equal(typeof attributes[type === 'markdown' ? 'value' : 'label'], 'string')
  assert.ok(type === 'markdown' || /^[\w-]+$/.test(id ?? ''))
  if (type === 'dropdown') assert.ok(Array.isArray(attributes['options']))
}

describe('an editor', () => {
  it('formats with biome, and has the types of this checkout', () => {
    const settings = json('.vscode/settings.json')
    assert.equal(settings['editor.defaultFormatter'], 'biomejs.biome')
    assert.ok(existsSync(join(root, settings['js/ts.tsdk.path'], 'tsserver.js')))
    assert.ok(json('.vscode/extensions.json').recommendations.includes('biomejs.biome'))
  })

  it('has a container with a Node that is new enough, and what npm brings', () => {
    const container = json('.devcontainer/devcontainer.json')
    assert.equal(container.postCreateCommand, 'npm ci')
    assert.match(container.image, /^node:26-trixie$/)
  })
})

describe('the manifest', () => {
  const manifest = json('package.json')

  it('names the Node that bin/broker asks for', () => {
    const [, oldest = ''] = /needs Node ([\d.]+) or newer/.exec(read('bin/broker')) ?? []
    assert.deepEqual(manifest.engines, { node: `>=${oldest}` })
    assert.deepEqual(json('package-lock.json').packages[''].engines, manifest.engines)
  })

  it('lets npm install on an older Node, which brings the newer one', () => {
    assert.doesNotMatch(read('.npmrc'), /engine-strict\s*=\s*true/)
  })

  it('gives its keywords to the package, whose npm may run on any Node from 20 on', () => {
    const made = Object(packageManifest(manifest, json('tools/node/package.json')))
    assert.deepEqual(made.keywords, manifest.keywords)
    assert.deepEqual(made.engines, { node: '>=20' })
  })
})
