import type { ProviderDefinition } from '../../schemas/index.ts'
import { parseDefinition } from './parse-definition.ts'

/** The JSON of a small valid definition, with what a test is about in place of its own. */
export function definitionJson(overrides: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return {
    schema_version: 1,
    name: 'prov',
    display_name: 'Prov',
    auth_type: 'api_key',
    flow: 'api_key',
    hosts: ['api.prov.test'],
    api_key: { prefix: 'Bearer' },
    ...overrides,
  }
}

export function definitionOf(overrides: Readonly<Record<string, unknown>> = {}): ProviderDefinition {
  return parseDefinition(definitionJson(overrides))
}
