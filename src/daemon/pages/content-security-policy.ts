const LOCKED = "frame-ancestors 'none'; base-uri 'none'"

/** For the small pages: one stylesheet, forms back to the daemon, no script, nothing else. */
export const PAGE_POLICY = `default-src 'none'; style-src 'self'; form-action 'self'; ${LOCKED}`

/** For the API's documentation: Swagger UI from the daemon itself, with the pictures inside its stylesheet. */
export const DOCS_POLICY = `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; ${LOCKED}`

/**
 * For the dashboard: script, style and pictures from the daemon itself, and calls to it alone. Its dialogs stop the page
 * behind them from scrolling by a style of their own making, which has to name what only this answer knows.
 * @param nonce unguessable, for one answer
 */
export function dashboardPolicy(nonce: string): string {
  return `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; ${LOCKED}`
}
