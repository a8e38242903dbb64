import {
  type InfiniteData,
  type UseMutationResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import type {
  Approval,
  AuditCounts,
  AuditPage,
  BrowserSession,
  Connection,
  ConnectionDetail,
  DescribedProvider,
  Health,
  Identity,
  Me,
  ProviderList,
  Readiness,
  RequestOf,
} from '../schemas/index.ts'
import { ask, DaemonError, forgetCsrfToken, hasCsrfToken } from './daemon.ts'

/** Null where nobody is signed in, or by a cookie alone, which may change nothing. */
export function useMe(): UseQueryResult<Me | null> {
  return useQuery({ queryKey: ['me'], queryFn: async () => (hasCsrfToken() ? await askWho() : null) })
}

async function askWho(): Promise<Me | null> {
  try {
    return await ask('GET /api/me')
  } catch (error) {
    if (!(error instanceof DaemonError && error.status === 401)) throw error
    forgetCsrfToken()
    return null
  }
}

/** E-mail addresses by principal. Only an admin may know those of others. */
export function useEmails(me: Me): ReadonlyMap<string, string> {
  const { data } = useQuery({
    queryKey: ['accounts'],
    queryFn: async () => (await ask('GET /api/accounts')).accounts,
    enabled: me.role === 'admin',
  })
  return useMemo(() => {
    const own = me.email === undefined ? [] : [[me.principal_id, me.email] as const]
    return new Map([...own, ...(data ?? []).map(({ principal_id, email }) => [principal_id, email] as const)])
  }, [data, me])
}

export function useConnections(): UseQueryResult<readonly Connection[]> {
  return useQuery({
    queryKey: ['connections'],
    queryFn: async () => (await ask('GET /api/connections')).connections,
  })
}

export function useConnection(provider: string, connection: string): UseQueryResult<ConnectionDetail> {
  return useQuery({
    queryKey: ['connections', provider, connection],
    queryFn: () => ask('GET /api/connections/{provider}/{connection}', { params: { provider, connection } }),
  })
}

export function useApproval(provider: string, connection: string): UseQueryResult<Approval> {
  return useQuery({
    queryKey: ['connections', provider, connection, 'approval'],
    queryFn: () => ask('GET /api/connections/{provider}/{connection}/approval', { params: { provider, connection } }),
  })
}

export function useProviders(): UseQueryResult<ProviderList> {
  return useQuery({ queryKey: ['providers'], queryFn: () => ask('GET /api/providers'), staleTime: 60_000 })
}

export function useProvider(name: string | undefined): UseQueryResult<DescribedProvider> {
  return useQuery({
    queryKey: ['providers', name],
    queryFn: () => ask('GET /api/providers/{provider}', { params: { provider: name ?? '' } }),
    enabled: name !== undefined,
  })
}

export function useAgents(): UseQueryResult<readonly Identity[]> {
  return useQuery({
    queryKey: ['agents'],
    queryFn: async () => (await ask('GET /api/identities')).identities,
  })
}

export function useReadiness(): UseQueryResult<Readiness> {
  return useQuery({ queryKey: ['ready'], queryFn: () => ask('GET /api/ready') })
}

export function useHealth(): UseQueryResult<Health> {
  return useQuery({ queryKey: ['health'], queryFn: () => ask('GET /api/health') })
}

export function useBrowserSessions(): UseQueryResult<readonly BrowserSession[]> {
  return useQuery({
    queryKey: ['browser-sessions'],
    queryFn: async () => (await ask('GET /api/browser-sessions')).sessions,
  })
}

export type Filters = Readonly<Record<string, string>>

/** Without what is empty. The daemon says which values there are. */
export function given(values: Filters): NonNullable<RequestOf<'GET /api/audit/counts'>['query']> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
}

/**
 * Newest first, a page at a time. What was read never changes, and is never asked again: what is new is put before it.
 */
export function useEvents(filters: Filters, limit = 100) {
  const queries = useQueryClient()
  const historyKey = useMemo(() => ['history', filters, limit], [filters, limit])
  const pageAt = (cursor: string) =>
    ask('GET /api/audit/events', { query: given({ ...filters, limit: String(limit), cursor }) })
  const history = useInfiniteQuery({
    queryKey: historyKey,
    queryFn: ({ pageParam }) => pageAt(pageParam),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor,
    staleTime: 'static',
  })
  const { data: newest } = useQuery({
    queryKey: ['newest', filters, limit],
    queryFn: () => pageAt(''),
    initialData: NOTHING_NEW,
    // Until something changed.
    staleTime: Number.POSITIVE_INFINITY,
  })
  useEffect(() => {
    queries.setQueryData<History>(historyKey, (known) => known && withNewest(known, newest))
  }, [queries, historyKey, newest])
  return history
}

type History = InfiniteData<AuditPage, string>

const NOTHING_NEW: AuditPage = { events: [] }

function withNewest(known: History, newest: AuditPage): History {
  const [first, ...rest] = known.pages
  const head = first?.events[0]?.seq ?? 0
  const fresh = newest.events.filter(({ seq }) => seq > head)
  if (!first || fresh.length === 0) return known
  const mayMissSome = fresh.length === newest.events.length && newest.next_cursor !== undefined
  if (mayMissSome) return { pages: [newest], pageParams: [''] }
  return { ...known, pages: [{ ...first, events: [...fresh, ...first.events] }, ...rest] }
}

export function useCounts(filters: Filters): UseQueryResult<AuditCounts['counts']> {
  return useQuery({
    queryKey: ['counts', filters],
    queryFn: async () => (await ask('GET /api/audit/counts', { query: given(filters) })).counts,
    placeholderData: (before) => before,
  })
}

/** Does something, then asks everything on the page again. */
export function useAct<Input, Answer = unknown>(
  act: (input: Input) => Promise<Answer>,
): UseMutationResult<Answer, Error, Input> {
  const queries = useQueryClient()
  return useMutation({ mutationFn: act, onSettled: () => queries.invalidateQueries() })
}
