import { holdsRooms, rooms, sharpTools } from './arrows.ts'
import { tables } from './tables.ts'

/** The tables of arrows, sharp tools and owners of tables as Markdown, for ARCHITECTURE.md. */
export function arrowsTable(): string {
  const arrows = rooms.map(({ name, imports, types = [] }) => {
    const typesOnly = types.length > 0 ? `; types of ${types.join(', ')}` : ''
    return `| ${holdsRooms(name) ? `${name}/*.ts` : name} | ${imports.join(', ') || 'nothing'}${typesOnly} |`
  })
  const tools = sharpTools.map(({ modules, rooms }) => `| ${modules.join(', ')} | ${rooms.join(', ') || 'no room'} |`)
  const owners = Object.entries(tables).map(
    ([table, { written, read = [] }]) => `| ${table} | ${written.join(', ')} | ${read.join(', ') || 'nobody else'} |`,
  )
  const lines = [
    '| room | may import |',
    '|---|---|',
    ...arrows,
    '',
    '| sharp tool | only in |',
    '|---|---|',
    ...tools,
    '',
    '| table | written by | read by |',
    '|---|---|---|',
    ...owners,
    '',
  ]
  return lines.join('\n')
}
