/**
 * The small HTML pages of the daemon: text in, markup out. They work without JavaScript and load nothing from elsewhere.
 * Must never repeat a value that was typed in, nor ask any other room a question.
 */
export { apiDocsPage } from './api-docs-page.ts'
export { pageAssets } from './assets.ts'
export { claimPage } from './claim-page.ts'
export { DOCS_POLICY, dashboardPolicy, PAGE_POLICY } from './content-security-policy.ts'
export { devicePage } from './device-page.ts'
export { inputPage } from './input-page.ts'
export { leadOnPage } from './lead-on-page.ts'
export { notFoundPage, resultPage } from './result-page.ts'
export { sessionPage } from './session-page.ts'
