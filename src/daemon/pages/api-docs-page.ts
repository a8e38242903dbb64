import { docsScript } from './assets.ts'
import { html } from './html.ts'

/** Swagger UI over `/openapi.json`. The daemon serves its two files below `/docs/assets/`. */
export function apiDocsPage(): string {
  return `<!doctype html>\n${html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API · Broker</title>
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
<script src="/docs/assets/swagger-ui-bundle.js" defer></script>
<script src="${docsScript.path}" defer></script>
</head>
<body>
<div id="docs"><noscript>This page needs JavaScript. The description itself is at <a href="/openapi.json">/openapi.json</a>.</noscript></div>
</body>
</html>`}\n`
}
