import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type BrokerHome, onboarded } from './broker-command.ts'
import { AT_HOME, ELSEWHERE, KEYS, LOGINS_ELSEWHERE, NO_KEYS, PLACED } from './onboarding-set.ts'

/** Variables of which something was imported, from a `.env` with these lines. */
async function importedFrom(world: BrokerHome, lines: readonly string[]) {
  writeFileSync(join(world.folder, '.env'), `${lines.join('\n')}\n`)
  const { code, stdout, stderr } = await world.broker(['onboard', '--json'])
  assert.equal(code, 0, stderr)
  assert.doesNotMatch(stdout + stderr, /CNRY/)
  const results = JSON.parse(stdout).results as readonly { readonly env_var: string; readonly status: string }[]
  return { imported: results.flatMap(({ env_var, status }) => (status === 'imported' ? [env_var] : [])), stderr }
}

const linesOf = (variables: Readonly<Record<string, string>>) =>
  Object.entries(variables).map(([name, value]) => `${name}=${value}`)

describe('broker onboard on a labelled set of variables', { timeout: 240_000 }, () => {
  it('imports every key, and nothing that was not meant', async (t) => {
    const { imported, stderr } = await importedFrom(await onboarded(t), linesOf({ ...KEYS, ...NO_KEYS }))
    const wanted = new Set(Object.keys(KEYS))
    const right = imported.filter((name) => wanted.has(name)).length
    t.diagnostic(
      `${wanted.size + Object.keys(NO_KEYS).length} variables: precision ${right}/${imported.length}, recall ${right}/${wanted.size}`,
    )
    assert.deepEqual(imported.toSorted(), [...wanted].toSorted())
    for (const name of Object.keys(NO_KEYS)) assert.match(stderr, new RegExp(`${name} in \\.env was not used: it `))
  })

  it('imports no key that is for another place, and says which variable says so', async (t) => {
    const world = await onboarded(t)
    for (const [key, place, address] of ELSEWHERE) {
      const { imported, stderr } = await importedFrom(world, [
        `${key}=${KEYS[key] ?? 'CNRYglpat7Q2kZm9Rb4TmLcY'}`,
        `${place}=${address}`,
      ])
      assert.deepEqual(imported, [], place)
      assert.match(stderr, new RegExp(`${key} in \\.env was not used: ${place} in \\.env says that it is for `))
      const login = LOGINS_ELSEWHERE[`${place} ${address}`]
      if (login !== undefined) assert.ok(stderr.includes(`\`${login}\``), stderr)
    }
  })

  it('imports a key whose place is the service itself', async (t) => {
    const world = await onboarded(t)
    for (const [key, place, address] of AT_HOME) {
      const { imported } = await importedFrom(world, [`${key}=${KEYS[key] ?? PLACED[key]}`, `${place}=${address}`])
      assert.deepEqual(imported, [key], place)
    }
  })
})
