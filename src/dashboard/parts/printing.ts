import { useSyncExternalStore } from 'react'
import { flushSync } from 'react-dom'

let isPrinting = false

/** Whether the page is on its way to paper, which has no window: lists are whole then, and moments exact. */
export function usePrinting(): boolean {
  return useSyncExternalStore(subscribe, () => isPrinting)
}

function subscribe(listener: () => void): () => void {
  // The paper is laid out as soon as the event is over.
  const begin = () => tell(true, listener)
  const end = () => tell(false, listener)
  addEventListener('beforeprint', begin)
  addEventListener('afterprint', end)
  return () => {
    removeEventListener('beforeprint', begin)
    removeEventListener('afterprint', end)
  }
}

function tell(next: boolean, listener: () => void): void {
  isPrinting = next
  flushSync(listener)
}
