import { html } from './html.ts'
import { layout, marks } from './layout.ts'

/** Asks somebody who followed a sign-in link from a mail, a chat or another site whether it is theirs. It does nothing by itself. */
export function sessionPage(action: string): string {
  return layout(
    'Sign this browser in',
    html`${marks.key}
<h1>Sign this browser in?</h1>
<p class="soft">An agent asked for this link, to open the dashboard of its owner. If it was yours, go on. If somebody sent it to you, close this page: you would be signed in as them, and what you connect would be theirs.</p>
<form method="post" action="${action}">
<button type="submit">It is my link: sign in</button>
</form>
<footer><p>The link is good once, and for a minute.</p></footer>`,
  )
}
