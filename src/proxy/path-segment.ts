import { pathOf } from './request-head.ts'

/**
 * The request target with another text for the first segment of its path that begins with `prefix` (`/bot`), or for
 * the whole segments of `prefix` and the one behind them where it ends in a slash (`/v2/`) and the path begins with it;
 * unchanged where there is none.
 */
export function withSegment(target: string, prefix: string, text: string): string {
  const path = pathOf(target)
  const start = path.indexOf(prefix)
  const isWhole = prefix.endsWith('/')
  if (start === -1 || (isWhole && start > 0)) return target
  const next = path.indexOf('/', isWhole ? prefix.length : start + 1)
  return target.slice(0, start) + text + target.slice(next === -1 ? path.length : next)
}
