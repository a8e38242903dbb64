import {
  catalogue,
  catalogueChange,
  resetCatalogue as resetQuery,
  updateCatalogue as updateBody,
} from '../../schemas/index.ts'
import { catalogueState, type DefinitionsOptions, resetCatalogue, updateCatalogue } from '../connections/index.ts'
import { type Route, route } from './route.ts'

const MAX_BODY = 8 * 1024 * 1024

export function catalogueRoutes(options: DefinitionsOptions): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/catalogue',
      access: 'principal',
      summary: 'Which bundled definitions are in use: their version, and signed catalogue files before them.',
      reply: catalogue,
      handle: () => ({ body: catalogueState(options) }),
    }),
    route({
      method: 'POST',
      path: '/api/catalogue',
      access: 'admin',
      summary: 'Puts a signed catalogue file to use; with `check`, only says what would change.',
      body: updateBody,
      maxBody: MAX_BODY,
      reply: catalogueChange,
      handle: async ({ who, body: { file, key, check = false } }) => ({
        body: await updateCatalogue(options, who, { file, key, check }),
      }),
    }),
    route({
      method: 'DELETE',
      path: '/api/catalogue',
      access: 'admin',
      summary:
        'Goes back to the definitions that came with this version; with `check=true`, only says what would change.',
      query: resetQuery,
      reply: catalogueChange,
      handle: async ({ who, query: { check } }) => ({
        body: await resetCatalogue(options, who, { check: check === 'true' }),
      }),
    }),
  ]
}
