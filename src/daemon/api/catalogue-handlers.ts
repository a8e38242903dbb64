import { catalogueState, type DefinitionsOptions, resetCatalogue, updateCatalogue } from '../connections/index.ts'
import type { Handlers } from './route.ts'

export function catalogueHandlers(options: DefinitionsOptions) {
  return {
    'GET /api/catalogue': () => ({ body: catalogueState(options) }),
    'POST /api/catalogue': async ({ who, body: { file, key, check = false } }) => ({
      body: await updateCatalogue(options, who, { file, key, check }),
    }),
    'DELETE /api/catalogue': async ({ who, query: { check } }) => ({
      body: await resetCatalogue(options, who, { check: check === 'true' }),
    }),
  } satisfies Partial<Handlers>
}
