import { holdsRooms, rooms, sharpTools } from './arrows.ts'

/** The table of arrows and sharp tools as Markdown, for ARCHITECTURE.md. */
export function arrowsTable(): string {
  const arrows = rooms.map(({ name, imports, types = [] }) => {
    const typesOnly = types.length > 0 ? `; types of ${types.join(', ')}` : ''
    return `| ${holdsRooms(name) ? `${name}/*.ts` : name} | ${imports.join(', ') || 'nothing'}${typesOnly} |`
  })
  const tools = sharpTools.map(({ modules, rooms }) => `| ${modules.join(', ')} | ${rooms.join(', ') || 'no room'} |`)
  const lines = [
    '| room | may import |',
    '|---|---|',
    ...arrows,
    '',
    '| sharp tool | only in |',
    '|---|---|',
    ...tools,
    '',
  ]
  return lines.join('\n')
}
