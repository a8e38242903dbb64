import { html } from './html.ts'
import { layout, marks } from './layout.ts'

export interface LeadOnPageOptions {
  /** The provider's name for people. */
  readonly displayName: string
  /** https, or http on loopback. */
  readonly url: string
}

/** On from the form to the provider: at once, or by a link where a browser does not go by itself. */
export function leadOnPage({ displayName, url }: LeadOnPageOptions): string {
  return layout(
    `On to ${displayName}`,
    html`${marks.way}
<h1>On to ${displayName}</h1>
<p class="soft">It will ask whether your app may act for you, and send you back here.</p>
<p><a class="button" href="${url}" rel="noopener noreferrer">Continue to ${new URL(url).host}</a></p>
<footer><p>What you entered is stored, sealed, once the login is complete.</p></footer>`,
    html`<meta http-equiv="refresh" content="0;url=${url}">
`,
  )
}
