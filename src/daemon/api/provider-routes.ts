import * as z from 'zod'
import { DEFAULT_PLACEHOLDER } from '../../protocol/index.ts'
import {
  describedProvider,
  type ProviderSummary,
  providerList,
  providerName,
  registeredProvider,
  registeredProviders,
  registerProvider,
  registerProviders,
  removedProvider,
} from '../../schemas/index.ts'
import type { AuthSessions } from '../auth-sessions/index.ts'
import {
  type DefinitionsOptions,
  registerDefinition,
  registerDefinitions,
  removeDefinition,
} from '../connections/index.ts'
import {
  credentialFields,
  hasSection,
  keySection,
  needsBaseUrl,
  type Provider,
  templatesOf,
} from '../providers/index.ts'
import { type Route, route } from './route.ts'

/** Room for a catalogue. */
const BATCH_BODY = 8 * 1024 * 1024

const byProvider = z.strictObject({ provider: providerName })

export function providerRoutes(options: DefinitionsOptions & { readonly sessions: AuthSessions }): readonly Route[] {
  const { providers, connections, sessions } = options
  return [
    route({
      method: 'GET',
      path: '/api/providers',
      access: 'principal',
      summary:
        'Every provider, bundled and custom, with how many connections the caller has; `detail=keys` adds where keys are found.',
      query: z.strictObject({ detail: z.literal('keys').optional() }),
      reply: providerList,
      handle: async ({ who, query: { detail } }) => {
        const counts = await connections.counts(who)
        const summaries = providers.list().map((provider) => ({
          ...summaryOf(provider, counts),
          ...(detail === 'keys' && keysOf(provider)),
        }))
        const from = (source: Provider['source']) => summaries.filter((summary) => summary.source === source)
        return { body: { bundled: from('bundled'), custom: from('custom') } }
      },
    }),
    route({
      method: 'GET',
      path: '/api/providers/{provider}',
      access: 'principal',
      summary: 'The whole definition of a provider.',
      params: byProvider,
      reply: describedProvider,
      handle: ({ params }) => {
        const { definition, source } = providers.get(params.provider)
        return { body: { ...definition, source } }
      },
    }),
    route({
      method: 'POST',
      path: '/api/providers',
      access: 'admin',
      summary: 'Registers a custom provider.',
      body: registerProvider,
      reply: registeredProvider,
      status: 201,
      handle: async ({ who, body: { definition: sent, force = false, beside = false } }) => {
        const { source: _read, ...definition } = sent
        const warnings = [...(await registerDefinition(options, who, { definition, force, beside }))]
        return { body: { status: 'ok' as const, provider: definition.name, warnings } }
      },
    }),
    route({
      method: 'POST',
      path: '/api/providers/batch',
      access: 'admin',
      summary: 'Registers several custom providers, all or none, and says of each what became of it.',
      body: registerProviders,
      maxBody: BATCH_BODY,
      reply: registeredProviders,
      handle: async ({ who, body: { definitions, force = false } }) => ({
        body: await registerDefinitions(options, who, { definitions, force }),
      }),
    }),
    route({
      method: 'DELETE',
      path: '/api/providers/{provider}',
      access: 'admin',
      summary:
        'Removes a custom provider, or resets a bundled one to its shipped form, with its connections; with `unused=true` only one without connections, once nobody logs in there.',
      params: byProvider,
      query: z.strictObject({ unused: z.literal('true').optional() }),
      reply: removedProvider,
      handle: async ({ who, params: { provider }, query: { unused } }) => ({
        body: unused
          ? await sessions.removeUnusedProvider(who, provider)
          : await removeDefinition(options, who, provider),
      }),
    }),
  ]
}

function keysOf({ definition }: Provider): Pick<ProviderSummary, 'keys'> {
  const { env = {}, self_hosted, placeholder = DEFAULT_PLACEHOLDER } = definition
  const [base_url] = templatesOf(definition)
  if (!hasSection(definition, keySection(definition))) return {}
  return {
    keys: {
      env,
      fields: [...credentialFields(definition)],
      ...(base_url !== undefined && { base_url }),
      ...(self_hosted && { self_hosted: self_hosted.map(({ path = '/*' }) => path) }),
      needs_base_url: needsBaseUrl(definition),
      placeholder,
    },
  }
}

function summaryOf({ definition, source }: Provider, counts: ReadonlyMap<string, number>): ProviderSummary {
  const { name, display_name, auth_type, flow, hosts, docs_url } = definition
  return {
    name,
    display_name,
    auth_type,
    flow,
    source,
    hosts,
    ...(docs_url !== undefined && { docs_url }),
    connections: counts.get(name) ?? 0,
  }
}
