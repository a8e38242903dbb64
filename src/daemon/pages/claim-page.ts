import { type Html, html } from './html.ts'
import { layout, marks } from './layout.ts'

export interface ClaimPageOptions {
  readonly handle: string
  readonly did: string
  readonly code: string
  /** Where to sign in, where nobody is. */
  readonly signIn?: string
  /** The page itself, to be asked for again by this one. */
  readonly again?: string
  /** Where somebody is: what confirms, and for whom. */
  readonly form?: { readonly action: string; readonly csrf: string; readonly account: string }
}

/** Asks whether an agent is one's own. It does nothing by itself. */
export function claimPage({ handle, did, code, signIn, again, form }: ClaimPageOptions): string {
  return layout(
    'An agent asks to be yours',
    html`${marks.device}
<h1>An agent asks to be yours</h1>
<p class="soft">Somebody ran <code>broker onboard</code>. If it was you, your terminal shows the same code. If it was not, close this page: nothing happens then.</p>
<p class="code">${code}</p>
<dl>
<dt>Agent</dt><dd>${handle}</dd>
<dt>Key</dt><dd class="key">${did}</dd>
</dl>
${form && confirmation(form, code)}
${signIn === undefined ? undefined : html`<p><a class="button" href="${signIn}">Sign in to confirm</a></p>`}
<footer><p>A confirmed agent acts for your account: it may use its connections, and run commands with them that see none of it. You can remove it at any time.</p></footer>`,
    again === undefined
      ? undefined
      : html`<meta http-equiv="refresh" content="0;url=${again}">
`,
  )
}

function confirmation({ action, csrf, account }: NonNullable<ClaimPageOptions['form']>, code: string): Html {
  return html`<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="code" value="${code}">
<button type="submit">The codes match: it is mine</button>
</form>
<p class="help">Signed in as ${account}.</p>`
}
