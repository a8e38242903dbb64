import { visibleText } from '../../protocol/index.ts'

/** Markup that is safe to send: made by {@link html} alone, so that no text gets into a page unescaped. */
export class Html {
  readonly #markup: string

  constructor(markup: TemplateStringsArray, values: readonly HtmlValue[]) {
    this.#markup = String.raw({ raw: markup }, ...values.map(render))
  }

  toString(): string {
    return this.#markup
  }
}

export type HtmlValue = string | Html | readonly Html[] | undefined

/** Builds markup; every text put into it is escaped, for content and for quoted attributes alike, and what cannot be seen in it is spelled out. Undefined is nothing. */
export function html(markup: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(markup, values)
}

function render(value: HtmlValue): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return escapeText(value)
  return value instanceof Html ? value.toString() : value.join('')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeText(text: string): string {
  return visibleText(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
