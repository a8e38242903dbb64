/** Starts Swagger UI. A file of its own, as the pages' policy allows no script inside them. */
export const DOCS_SCRIPT = `'use strict'

window.addEventListener('load', () => {
  window.SwaggerUIBundle({
    url: '/openapi.json',
    domNode: document.getElementById('docs'),
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    supportedSubmitMethods: [],
    validatorUrl: null,
  })
})
`
