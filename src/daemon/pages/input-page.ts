import type { Field } from '../../schemas/index.ts'
import { type Html, html } from './html.ts'
import { layout, marks } from './layout.ts'

export interface InputPageOptions {
  /** The provider's name for people. */
  readonly displayName: string
  readonly connection: string
  readonly fields: readonly Field[]
  /** Path that the form is posted to. */
  readonly action: string
  readonly csrf: string
  /** Where a key is made. */
  readonly docsUrl?: string
  /** What is wrong with the last try as a whole. */
  readonly error?: string
  /** What is wrong with one field, by its name. */
  readonly fieldErrors?: Readonly<Record<string, string>>
}

/** Asks for the values of a credential. What was typed before is never in it. */
export function inputPage(options: InputPageOptions): string {
  const { displayName, connection, fields, action, csrf, docsUrl, error, fieldErrors = {} } = options
  const shown = fields.map((field) => ({
    field,
    wrong: Object.hasOwn(fieldErrors, field.name) ? fieldErrors[field.name] : undefined,
  }))
  const focused = (shown.find(({ wrong }) => wrong !== undefined) ?? shown[0])?.field
  return layout(
    `Connect ${displayName}`,
    html`${marks.key}
<h1>Connect ${displayName}</h1>
<p class="soft">What you enter is sealed in your vault as the connection <strong>${connection}</strong>. Agents can use it and never see it.</p>
${docsUrl === undefined ? undefined : docsLink(docsUrl, displayName)}
${error === undefined ? undefined : html`<p class="alert" role="alert">${error}</p>`}
<form method="post" action="${action}" autocomplete="off">
<input type="hidden" name="csrf" value="${csrf}">
${shown.map(({ field, wrong }) => fieldRow(field, wrong, field === focused))}
<button type="submit">Connect</button>
</form>
<footer><p>This page comes from your own Broker. Nothing is sent to ${displayName} until you run a command.</p></footer>`,
  )
}

function docsLink(url: string, displayName: string): Html {
  return html`<p><a href="${url}" target="_blank" rel="noopener noreferrer">Get one from ${displayName}</a></p>`
}

function fieldRow(field: Field, wrong: string | undefined, isFocused: boolean): Html {
  const id = `field-${field.name}`
  const described = [field.help === undefined ? '' : `${id}-help`, wrong === undefined ? '' : `${id}-wrong`]
    .join(' ')
    .trim()
  return html`<div class="field">
<label for="${id}">${field.label}${field.required ? undefined : html` <span class="optional">(optional)</span>`}</label>
<input id="${id}" name="${field.name}" type="${field.secret ? 'password' : 'text'}" autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false"${
    field.required ? html` required` : undefined
  }${described === '' ? undefined : html` aria-describedby="${described}"`}${wrong === undefined ? undefined : html` aria-invalid="true"`}${
    isFocused ? html` autofocus` : undefined
  }>
${field.help === undefined ? undefined : html`<p class="help" id="${id}-help">${field.help}</p>`}
${wrong === undefined ? undefined : html`<p class="wrong" id="${id}-wrong">${wrong}</p>`}
</div>`
}
