/**
 * Which credential a request gets: from the host it goes to, to the headers that carry it, asked anew each time and
 * refreshed once for all who ask; and how what a provider granted is ended. Must never cache an opened credential, nor
 * guess between two providers, nor use a token before it is stored.
 */
export { type ExplainedRequest, explainRequest } from './explain.ts'
export { keepFresh } from './keep-fresh.ts'
export { openRefresher } from './open-refresher.ts'
export { type CredentialsOptions, resolveCredential } from './resolve.ts'
export { type RevokeOptions, revokeProvider } from './revoke.ts'
export { routesFor } from './routes.ts'
export { requireGrantable } from './run-grants.ts'
export { openTokenIssuer } from './token-issuer.ts'
