import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { addressOf } from './daemon.ts'

/** How long changes are gathered before the questions of these names are asked again: what is long to answer waits longer. */
const REFRESHES = [
  { ms: 400, names: ['newest', 'counts'] },
  { ms: 2_000, names: ['connections', 'agents', 'browser-sessions'] },
  { ms: 10_000, names: ['providers', 'ready', 'health'] },
] as const

const AGAIN_MS = 1_500

/**
 * Whether the daemon is there. While it is, what it tells of changes makes the questions on the page be asked again. A page
 * that nobody sees does not listen: browsers keep few connections to one host for all of its pages together.
 */
export function useLive(isSignedIn: boolean): 'here' | 'away' {
  const queries = useQueryClient()
  const [state, setState] = useState<'here' | 'away'>('here')
  useEffect(() => {
    if (!isSignedIn) return
    const reloader = new Reloader(queries)
    let stop: (() => void) | undefined
    const onVisibility = () => {
      stop?.()
      stop = document.hidden ? undefined : listen(queries, reloader, setState)
    }
    onVisibility()
    document.addEventListener('visibilitychange', onVisibility)
    return () => {
      document.removeEventListener('visibilitychange', onVisibility)
      stop?.()
      reloader.stop()
    }
  }, [isSignedIn, queries])
  return isSignedIn ? state : 'here'
}

function listen(queries: QueryClient, reloader: Reloader, onState: (state: 'here' | 'away') => void): () => void {
  let again: ReturnType<typeof setTimeout> | undefined
  let isAway = false
  let source = open()
  function open(): EventSource {
    const opened = new EventSource(addressOf('GET /api/live'))
    opened.addEventListener('change', () => {
      onState('here')
      if (isAway) void queries.invalidateQueries()
      else reloader.note()
      isAway = false
    })
    opened.addEventListener('error', () => {
      isAway = true
      onState('away')
      // A browser gives up for good on an answer that is no stream: a daemon that starts, or a session that is over.
      if (opened.readyState !== EventSource.CLOSED) return
      void queries.invalidateQueries({ queryKey: ['me'] })
      again = setTimeout(() => {
        source = open()
      }, AGAIN_MS)
    })
    return opened
  }
  return () => {
    source.close()
    clearTimeout(again)
  }
}

/** Many changes at once are one look. */
class Reloader {
  readonly #queries: QueryClient
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>()

  constructor(queries: QueryClient) {
    this.#queries = queries
  }

  note(): void {
    for (const { ms, names } of REFRESHES) {
      if (this.#timers.has(ms)) continue
      const refresh = () => {
        this.#timers.delete(ms)
        for (const name of names) void this.#queries.invalidateQueries({ queryKey: [name] })
      }
      this.#timers.set(ms, setTimeout(refresh, ms))
    }
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
  }
}
