import { stylesheet } from './assets.ts'
import { type Html, html } from './html.ts'

/** The frame of every small page: title, one card, and where the page comes from. `head` goes on at its end. */
export function layout(title: string, content: Html, head?: Html): string {
  return `<!doctype html>\n${html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · Broker</title>
<link rel="stylesheet" href="${stylesheet.path}">
${head}</head>
<body>
<main>
${content}
</main>
</body>
</html>`}\n`
}

/** Decorations: what they say is said in words beside them. */
export const marks = {
  key: mark(html`<circle cx="8" cy="15" r="4.25"/><path d="m11.2 12 8.3-8.3M16 7.2l3 3"/>`),
  device: mark(html`<rect x="6.5" y="2.75" width="11" height="18.5" rx="2.25"/><path d="M10.75 18.25h2.5"/>`),
  way: mark(html`<path d="M4 12h15.25M13 5.75 19.25 12 13 18.25"/>`),
  success: mark(html`<circle cx="12" cy="12" r="9.25"/><path d="m7.75 12.4 2.9 2.9 5.8-6.2"/>`),
  failure: mark(html`<circle cx="12" cy="12" r="9.25"/><path d="M12 7.25v5.5M12 16.4v.1"/>`, 'failure'),
} as const

function mark(shapes: Html, tone = ''): Html {
  return html`<svg class="mark ${tone}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${shapes}</svg>`
}
