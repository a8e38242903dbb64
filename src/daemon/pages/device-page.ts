import { type Html, html } from './html.ts'
import { layout, marks } from './layout.ts'

export interface DevicePageOptions {
  /** The provider's name for people. */
  readonly displayName: string
  readonly connection: string
  readonly userCode: string
  /** https, or http on loopback. */
  readonly verificationUri: string
  /** With the code in it. */
  readonly verificationUriComplete?: string
  readonly secondsLeft: number
}

/** The code of a login by device code, and the way to where it is entered. */
export function devicePage(options: DevicePageOptions): string {
  const { displayName, connection, userCode, verificationUri, verificationUriComplete, secondsLeft } = options
  const { origin, host } = new URL(verificationUri)
  return layout(
    `Connect ${displayName}`,
    html`${marks.device}
<h1>Connect ${displayName}</h1>
<p class="soft">${
      verificationUriComplete === undefined
        ? html`Enter this code at <strong>${origin}</strong>`
        : html`Check that <strong>${origin}</strong> shows this code`
    }, and allow the access there. The connection will be called <strong>${connection}</strong>.</p>
${codeField(userCode)}
<p class="caution"><strong>Only continue if you started this login yourself.</strong> If somebody sent you this code, they would get into your account.</p>
<p><a class="button" href="${verificationUriComplete ?? verificationUri}" target="_blank" rel="noopener noreferrer">Continue to ${host}<span class="unseen"> (opens a new tab)</span></a></p>
<footer><p>The code is good for ${minutes(secondsLeft)}. Your terminal goes on by itself once you are done; you can close this page then.</p></footer>`,
  )
}

/** A field that nobody can change: one key selects all of it, and a screen reader goes through it letter by letter. */
function codeField(code: string): Html {
  return html`<div class="field">
<label for="code">Your code</label>
${code.length <= LONGEST_LINE ? oneLine(code) : lines(code)}
<p class="unseen" id="code-spelled">Spelled out: ${spelled(code)}</p>
</div>`
}

const LONGEST_LINE = 14

function oneLine(code: string): Html {
  return html`<input id="code" class="code ${code.length <= 9 ? '' : 'long'}" type="text" readonly value="${code}" autocomplete="off" spellcheck="false" aria-describedby="code-spelled">`
}

function lines(code: string): Html {
  return html`<textarea id="code" class="code" readonly rows="2" spellcheck="false" aria-describedby="code-spelled">${code}</textarea>`
}

function spelled(code: string): string {
  return [...code].map((character) => SPOKEN[character] ?? character).join(', ')
}

const SPOKEN: Readonly<Record<string, string>> = { '-': 'dash', ' ': 'space', '.': 'dot', _: 'underscore' }

function minutes(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds / 60))
  return whole === 1 ? 'one more minute' : `${whole} more minutes`
}
