import type { Field } from '../../schemas/index.ts'
import { type Html, html } from './html.ts'
import { layout, marks } from './layout.ts'

export interface InputPageOptions {
  /** The provider's name for people. */
  readonly displayName: string
  readonly connection: string
  /** The credential itself, a client that acts for itself, or the user's own OAuth app. */
  readonly asksFor: 'credential' | 'client' | 'app'
  readonly fields: readonly Field[]
  /** Path that the form is posted to. */
  readonly action: string
  readonly csrf: string
  /** Where a key or an app is made. */
  readonly docsUrl?: string
  /** What an app has to be told: where the provider sends the browser back to. */
  readonly redirectUri?: string
  /** What is wrong with the last try as a whole. */
  readonly error?: string
  /** What is wrong with one field, by its name. */
  readonly fieldErrors?: Readonly<Record<string, string>>
}

/** Asks for the values of a credential or of an OAuth app. What was typed before is never in it. */
export function inputPage(options: InputPageOptions): string {
  const { displayName, asksFor, fields, action, csrf, error, fieldErrors = {} } = options
  const shown = fields.map((field) => ({
    field,
    wrong: Object.hasOwn(fieldErrors, field.name) ? fieldErrors[field.name] : undefined,
  }))
  const focused = (shown.find(({ wrong }) => wrong !== undefined) ?? shown[0])?.field
  const { introduction, button, footer } = words[asksFor](options)
  return layout(
    `Connect ${displayName}`,
    html`${marks.key}
<h1>Connect ${displayName}</h1>
${introduction}
${error === undefined ? undefined : html`<p class="alert" role="alert">${error}</p>`}
<form method="post" action="${action}" autocomplete="off">
<input type="hidden" name="csrf" value="${csrf}">
${shown.map(({ field, wrong }) => fieldRow(field, wrong, field === focused))}
<button type="submit">${button}</button>
</form>
<footer><p>${footer}</p></footer>`,
  )
}

interface Words {
  readonly introduction: Html
  readonly button: string
  readonly footer: string
}

const words: Readonly<Record<InputPageOptions['asksFor'], (options: InputPageOptions) => Words>> = {
  credential: (options) => ({
    introduction: sealedIntroduction(options),
    button: 'Connect',
    footer: `This page comes from your own Broker. Nothing is sent to ${options.displayName} until you run a command.`,
  }),
  client: (options) => ({
    introduction: sealedIntroduction(options),
    button: 'Connect',
    footer: `This page comes from your own Broker. It asks ${options.displayName} for a token at once, to see that all of it is right.`,
  }),
  app: ({ displayName, connection, docsUrl, redirectUri }) => ({
    introduction: html`<p class="soft">${displayName} wants an OAuth app of your own. Register one there${
      redirectUri === undefined ? undefined : ' with the redirect URI below'
    } and enter what it is given. It serves <strong>${connection}</strong> and every later connection.</p>
${docsUrl === undefined ? undefined : outwardLink(docsUrl, `Register one at ${displayName}`)}
${redirectUri === undefined ? undefined : redirectRow(redirectUri)}`,
    button: `Continue to ${displayName}`,
    footer: 'This page comes from your own Broker. What you enter is stored, sealed, once the login is complete.',
  }),
}

function sealedIntroduction({ displayName, connection, docsUrl }: InputPageOptions): Html {
  return html`<p class="soft">What you enter is sealed in your vault as the connection <strong>${connection}</strong>. Commands behind <code>broker run</code> can use it and never see it.</p>
${docsUrl === undefined ? undefined : outwardLink(docsUrl, `Get one from ${displayName}`)}`
}

function outwardLink(url: string, text: string): Html {
  return html`<p><a href="${url}" target="_blank" rel="noopener noreferrer">${text}</a></p>`
}

function redirectRow(uri: string): Html {
  return html`<div class="field">
<label for="redirect-uri">Redirect URI of the app</label>
<textarea id="redirect-uri" readonly rows="2" spellcheck="false" aria-describedby="redirect-uri-help">${uri}</textarea>
<p class="help" id="redirect-uri-help">Some call it callback URL. Enter it there exactly so.</p>
</div>`
}

function fieldRow(field: Field, wrong: string | undefined, isFocused: boolean): Html {
  const id = `field-${field.name}`
  const described = [field.help === undefined ? '' : `${id}-help`, wrong === undefined ? '' : `${id}-wrong`]
    .join(' ')
    .trim()
  const attributes = html`autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false"${
    field.required ? html` required` : undefined
  }${described === '' ? undefined : html` aria-describedby="${described}"`}${wrong === undefined ? undefined : html` aria-invalid="true"`}${
    isFocused ? html` autofocus` : undefined
  }`
  return html`<div class="field">
<label for="${id}">${field.label}${field.required ? undefined : html` <span class="optional">(optional)</span>`}</label>
${
  field.multiline
    ? html`<textarea id="${id}" name="${field.name}" rows="6" ${attributes}></textarea>`
    : html`<input id="${id}" name="${field.name}" type="${field.secret ? 'password' : 'text'}" ${attributes}>`
}
${field.help === undefined ? undefined : html`<p class="help" id="${id}-help">${field.help}</p>`}
${wrong === undefined ? undefined : html`<p class="wrong" id="${id}-wrong">${wrong}</p>`}
</div>`
}
