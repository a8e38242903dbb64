import { html } from './html.ts'
import { layout, marks } from './layout.ts'

export interface ResultPageOptions {
  readonly title: string
  readonly message: string
  /** What would work instead. */
  readonly hint?: string | undefined
  readonly tone: 'success' | 'failure'
}

/** The end of something that began in a terminal. */
export function resultPage({ title, message, hint, tone }: ResultPageOptions): string {
  return layout(
    title,
    html`${marks[tone]}
<h1>${title}</h1>
<p class="soft">${message}</p>
${hint === undefined ? undefined : html`<p class="soft">${hint}</p>`}
<footer><p>You can close this page and go back to your terminal.</p></footer>`,
  )
}

/** One page for what is finished, expired or was never there: it does not tell which. */
export function notFoundPage(): string {
  return resultPage({
    title: 'Nothing here any more',
    message: 'This link is used up, too old, or not complete. Begin again in your terminal.',
    tone: 'failure',
  })
}
