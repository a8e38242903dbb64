import { DEFAULT_PLACEHOLDER } from '../../protocol/index.ts'
import type { ProviderSummary } from '../../schemas/index.ts'
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
import type { Handlers } from './route.ts'

export function providerHandlers(options: DefinitionsOptions & { readonly sessions: AuthSessions }) {
  const { providers, connections, sessions } = options
  return {
    'GET /api/providers': async ({ who, query: { detail } }) => {
      const counts = await connections.counts(who)
      const summaries = providers.list().map((provider) => ({
        ...summaryOf(provider, counts),
        ...(detail === 'keys' && keysOf(provider)),
      }))
      const from = (source: Provider['source']) => summaries.filter((summary) => summary.source === source)
      return { body: { bundled: from('bundled'), custom: from('custom') } }
    },
    'GET /api/providers/{provider}': ({ params }) => {
      const { definition, source } = providers.get(params.provider)
      return { body: { ...definition, source } }
    },
    'POST /api/providers': async ({ who, body: { definition: sent, force = false, beside = false } }) => {
      const { source: _read, ...definition } = sent
      const warnings = [...(await registerDefinition(options, who, { definition, force, beside }))]
      return { body: { status: 'ok' as const, provider: definition.name, warnings } }
    },
    'POST /api/providers/batch': async ({ who, body: { definitions, force = false } }) => ({
      body: await registerDefinitions(options, who, { definitions, force }),
    }),
    'DELETE /api/providers/{provider}': async ({ who, params: { provider }, query: { unused } }) => ({
      body: unused
        ? await sessions.removeUnusedProvider(who, provider)
        : await removeDefinition(options, who, provider),
    }),
  } satisfies Partial<Handlers>
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
