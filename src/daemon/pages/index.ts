/**
 * The small HTML pages of the daemon: text in, markup out. They work without JavaScript and load nothing from elsewhere.
 * Must never repeat a value that was typed in, nor ask any other room a question.
 */
export { apiDocsPage } from './api-docs-page.ts'
export { type PageAsset, pageAssets } from './assets.ts'
export { type ClaimPageOptions, claimPage } from './claim-page.ts'
export { DOCS_POLICY, dashboardPolicy, PAGE_POLICY } from './content-security-policy.ts'
export { type DevicePageOptions, devicePage } from './device-page.ts'
export { type InputPageOptions, inputPage } from './input-page.ts'
export { type LeadOnPageOptions, leadOnPage } from './lead-on-page.ts'
export { notFoundPage, type ResultPageOptions, resultPage } from './result-page.ts'
export { sessionPage } from './session-page.ts'
