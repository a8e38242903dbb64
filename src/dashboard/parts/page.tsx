import { type ReactNode, useEffect, useRef } from 'react'
import { sentenceOf } from './notices.tsx'
import { Said } from './said.tsx'

interface PageProps {
  readonly title: string
  readonly about?: ReactNode
  /** Buttons beside the title. */
  readonly actions?: ReactNode
  readonly children: ReactNode
}

let shownTitle: string | undefined

export function Page({ title, about, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Broker`
    // A page that was gone to without loading is told to a screen reader by its heading; one that was loaded, by its title.
    if (shownTitle !== undefined && shownTitle !== title) heading.current?.focus({ preventScroll: true })
    shownTitle = title
  }, [title])
  return (
    <main id="content" tabIndex={-1}>
      <header className="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {about !== undefined && <p className="soft">{about}</p>}
        </div>
        {actions !== undefined && <div className="buttons">{actions}</div>}
      </header>
      {children}
    </main>
  )
}

interface EmptyProps {
  readonly title: string
  /** What to do next. */
  readonly children: ReactNode
}

export function Empty({ title, children }: EmptyProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

interface AnsweredProps<Answer> {
  readonly question: { readonly data: Answer | undefined; readonly error: Error | null }
  readonly children: (answer: Answer) => ReactNode
}

/** What was answered, or that it is on its way, or why not. What was answered before stays where the next try fails. */
export function Answered<Answer>({ question: { data, error }, children }: AnsweredProps<Answer>) {
  if (data !== undefined) return children(data)
  if (error) {
    return (
      <p className="alert" role="alert">
        <Said>{sentenceOf(error)}</Said>
      </p>
    )
  }
  return (
    <p className="soft loading" role="status">
      Loading…
    </p>
  )
}
