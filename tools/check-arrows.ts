/** Holds every import to the table in `arrows.ts`. */
import { existsSync } from 'node:fs'
import { cruise, type IRegularForbiddenRuleType as Rule } from 'dependency-cruiser'
import { holdsRooms, type Room, rooms, type SharpTool, sharpTools, TEST_FILE } from './arrows.ts'

const TESTS = TEST_FILE.source

function directoryOf(room: string): string {
  // Files right below a directory of rooms are a room of their own: the one that puts the others together.
  return holdsRooms(room) ? `^src/${room}/[^/]+$` : `^src/${room}/`
}

function doorOf(room: string): string {
  return String.raw`^src/${room}/index\.ts$`
}

function arrowRules({ name, imports, types = [] }: Room): readonly Rule[] {
  const from = { path: directoryOf(name), pathNot: TESTS }
  const inside = [directoryOf(name)]
  return [
    rule(`${name} imports only: ${[...imports, ...types].join(', ') || 'nothing'}`, from, {
      path: '^src/',
      pathNot: [...inside, ...[...imports, ...types].map(doorOf)],
    }),
    rule(`${name} imports only types of: ${types.join(', ') || 'nothing'}`, from, {
      path: types.length > 0 ? types.map(doorOf) : '^no-such-path$',
      preCompilationOnly: false,
    }),
  ]
}

function sharpRule({ modules, rooms: allowed }: SharpTool): Rule {
  const names = modules.map((module) =>
    module.startsWith('node:') ? `^(?:node:)?${module.slice('node:'.length)}$` : `(?:^|/)node_modules/${module}/`,
  )
  return rule(
    `${modules.join(', ')} only in: ${allowed.join(', ') || 'no room'}`,
    { path: '^src/', pathNot: [TESTS, ...allowed.map(directoryOf)] },
    { path: names },
  )
}

function rule(name: string, from: Rule['from'], to: Rule['to']): Rule {
  return { name, severity: 'error', from, to }
}

const houseRules: readonly Rule[] = [
  rule('no cycles', {}, { circular: true }),
  rule(
    'files inside a room never import their own door',
    { path: '^src/(.+)/[^/]+$', pathNot: [TESTS, '/index\\.ts$'] },
    {
      path: '^src/$1/index\\.ts$',
    },
  ),
  rule('nothing imports a test', { pathNot: TESTS }, { path: TESTS }),
  rule('src imports nothing outside', { path: '^src/', pathNot: TESTS }, { path: '^(?:test|bench|demo|tools)/' }),
  rule(
    'the outside imports only doors',
    { path: '^(?:test|bench|demo|tools)/' },
    {
      path: '^src/',
      pathNot: '/index\\.ts$',
    },
  ),
]

async function checkArrows(): Promise<void> {
  const { output } = await cruise(['src', 'test', 'bench', 'demo', 'tools'].filter(existsSync), {
    validate: true,
    ruleSet: { forbidden: [...rooms.flatMap(arrowRules), ...sharpTools.map(sharpRule), ...houseRules] },
    tsPreCompilationDeps: 'specify',
    detectProcessBuiltinModuleCalls: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^tools/node/' },
  })
  if (typeof output === 'string') throw new Error('dependency-cruiser gave text where a result was due')
  const { totalCruised, violations } = output.summary
  // A cruiser that cannot read TypeScript finds nothing, and nothing wrong either.
  const inRooms = output.modules.filter(({ source }) => source.startsWith('src/')).length
  if (inRooms === 0) throw new Error('dependency-cruiser found no module of src: its verdict means nothing')
  for (const { rule: broken, from, to } of violations) process.stdout.write(`${from} → ${to}\n    ${broken.name}\n`)
  process.stdout.write(
    `${inRooms} modules of src, ${totalCruised} in all: ${violations.length} arrows against the table\n`,
  )
  process.exitCode = violations.length > 0 ? 1 : 0
}

await checkArrows()
