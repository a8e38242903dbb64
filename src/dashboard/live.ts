import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

const TOGETHER_MS = 400
const AGAIN_MS = 1_500

/** Whether the daemon is there. While it is, what it tells of changes makes every question on the page be asked again. */
export function useLive(isSignedIn: boolean): 'here' | 'away' {
  const queries = useQueryClient()
  const [state, setState] = useState<'here' | 'away'>('here')
  useEffect(() => {
    if (!isSignedIn) return
    let source: EventSource
    let refresh: ReturnType<typeof setTimeout> | undefined
    let again: ReturnType<typeof setTimeout> | undefined
    const onChange = () => {
      setState('here')
      // Many changes at once are one look.
      refresh ??= setTimeout(() => {
        refresh = undefined
        void queries.invalidateQueries()
      }, TOGETHER_MS)
    }
    const listen = () => {
      source = new EventSource('/api/live')
      source.addEventListener('change', onChange)
      source.addEventListener('error', () => {
        setState('away')
        // A browser gives up for good on an answer that is no stream: a daemon that starts, or a session that is over.
        if (source.readyState !== EventSource.CLOSED) return
        void queries.invalidateQueries({ queryKey: ['me'] })
        again = setTimeout(listen, AGAIN_MS)
      })
    }
    listen()
    return () => {
      source.close()
      clearTimeout(refresh)
      clearTimeout(again)
    }
  }, [isSignedIn, queries])
  return isSignedIn ? state : 'here'
}
