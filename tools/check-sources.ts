/** What one can see in the text of files: rooms and their doors, who reads the environment, who reveals a secret, whose tables are. */
import { entries, environmentReaders, holdsRooms, rooms } from './arrows.ts'
import { revealList } from './reveal-list.ts'
import { type SourceFile, sourceFiles } from './source-files.ts'
import { tableProblems, unlistedTables } from './tables.ts'

/** A comment on what the room is for, then named re-exports of its own files or of the doors below it, and nothing else. */
const DOOR = /^\/\*\*[\s\S]+?\*\/\n+(?:export (?:type )?\{[^}]+\} from '\.\/[a-z0-9-]+(?:\/index)?\.ts'\n)+$/

const files = sourceFiles()
const problems = [
  ...roomProblems(),
  ...doorProblems(),
  ...environmentProblems(),
  ...revealProblems(),
  ...unlistedTables(files),
  ...tableProblems(files),
]
for (const problem of problems) process.stdout.write(`${problem}\n`)
process.stdout.write(`${files.length} files, ${rooms.length} rooms: ${problems.length} problems\n`)
process.exitCode = problems.length > 0 || files.length === 0 ? 1 : 0

function roomOf({ path }: SourceFile): string {
  const [, first = '', second = ''] = path.split('/')
  return holdsRooms(first) && !second.includes('.') ? `${first}/${second}` : first
}

function roomProblems(): readonly string[] {
  const inTable = new Set(rooms.map(({ name }) => name))
  const onDisk = new Set(files.map(roomOf))
  return [
    ...[...onDisk].filter((room) => !inTable.has(room)).map((room) => `src/${room}: not in tools/arrows.ts`),
    ...[...inTable].filter((room) => !onDisk.has(room)).map((room) => `src/${room}: in tools/arrows.ts, but not there`),
  ]
}

function doorProblems(): readonly string[] {
  const doors = files.filter(({ path }) => path.endsWith('/index.ts'))
  const withDoor = new Set(doors.map(roomOf))
  return [
    ...doors
      .filter(({ text }) => !DOOR.test(text))
      .map(({ path }) => `${path}: a door is a doc comment and named re-exports of the room's own files`),
    ...rooms
      .filter(({ name }) => !entries.has(name) && !withDoor.has(name))
      .map(({ name }) => `src/${name}: has no door`),
  ]
}

function environmentProblems(): readonly string[] {
  return files
    .filter(
      (file) =>
        !environmentReaders.some((reader) => file.path.startsWith(reader)) && /\bprocess\.env\b/.test(file.text),
    )
    .map(({ path }) => `${path}: reads process.env, which only ${environmentReaders.join(', ')} may do`)
}

function revealProblems(): readonly string[] {
  const counted = Object.fromEntries(
    files.map(({ path, text }) => [path, text.split('.reveal()').length - 1] as const).filter(([, count]) => count > 0),
  )
  const paths = [...new Set([...Object.keys(counted), ...Object.keys(revealList)])].toSorted()
  const wrong = paths.filter((path) => counted[path] !== revealList[path])
  if (wrong.length === 0) return []
  const table = Object.entries(counted).map(([path, count]) => `  '${path}': ${count},`)
  return [
    ...wrong.map((path) => `${path}: reveals ${counted[path] ?? 0} times, the list says ${revealList[path] ?? 0}`),
    'Is each of these needed? If so, tools/reveal-list.ts:',
    `export const revealList: Readonly<Record<string, number>> = {\n${table.join('\n')}\n}`,
  ]
}
