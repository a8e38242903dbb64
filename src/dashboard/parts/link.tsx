import type { ReactNode } from 'react'
import { goTo } from '../address.ts'

interface LinkProps {
  readonly to: string
  readonly className?: string
  readonly isCurrent?: boolean
  readonly children: ReactNode
}

/** A link within the dashboard: opens in another tab as any other, and else goes there without loading. */
export function Link({ to, className, isCurrent = false, children }: LinkProps) {
  return (
    <a
      href={to}
      className={className}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={(event) => {
        if (event.defaultPrevented || event.button !== 0) return
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
        event.preventDefault()
        goTo(to)
      }}
    >
      {children}
    </a>
  )
}
