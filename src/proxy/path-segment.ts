import { pathOf } from './request-head.ts'

/**
 * The request target with another text for the first segment of its path that begins with `prefix` (`/bot`); unchanged
 * where none does.
 */
export function withSegment(target: string, prefix: string, text: string): string {
  const path = pathOf(target)
  const start = path.indexOf(prefix)
  if (start === -1) return target
  const next = path.indexOf('/', start + 1)
  return target.slice(0, start) + text + target.slice(next === -1 ? path.length : next)
}
