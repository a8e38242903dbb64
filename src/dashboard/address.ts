import { useEffect, useRef, useState, useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  addEventListener('popstate', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('popstate', listener)
  }
}

/** Path and query of the page that is shown. */
export function useAddress(): URL {
  const href = useSyncExternalStore(subscribe, () => location.href)
  return new URL(href)
}

/** Whether the daemon is on the machine of this browser. */
export function isLoopback(): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(location.hostname)
}

/** Goes to another page without loading anything. */
export function goTo(path: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') history.pushState(null, '', path)
  else history.replaceState(null, '', path)
  for (const listener of listeners) listener()
  if (how === 'push') scrollTo(0, 0)
}

/** The page with other values in its query; an empty one is left out. */
export function withQuery(url: URL, values: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(url.search)
  for (const [name, value] of Object.entries(values)) {
    if (value === '') query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  return text === '' ? url.pathname : `${url.pathname}?${text}`
}

const TYPED_MS = 250

/**
 * What somebody types into a field whose value is part of the address. The address follows when the typing rests: browsers
 * refuse to be told of another one with every key.
 * @param isGood what may stand in the address; all else stays in the field
 */
export function useTyped(name: string, isGood: (text: string) => boolean = () => true) {
  const kept = useAddress().searchParams.get(name) ?? ''
  const [text, setText] = useState(kept)
  const written = useRef(kept)
  useEffect(() => {
    // Somebody followed a link, or went back.
    if (kept !== written.current) setText(kept)
    written.current = kept
  }, [kept])
  const good = isGood(text) ? text : undefined
  useEffect(() => {
    if (good === undefined || good === written.current) return
    const timer = setTimeout(() => {
      written.current = good
      goTo(withQuery(new URL(location.href), { [name]: good }), 'replace')
    }, TYPED_MS)
    return () => clearTimeout(timer)
  }, [good, name])
  return [text, setText] as const
}
