/**
 * Which credential a request gets: from the host it goes to, to the headers that carry it, asked anew each time.
 * Must never cache an opened credential, nor guess between two providers.
 */
export { type CredentialsOptions, resolveCredential } from './resolve.ts'
export { type RouteScope, routesFor } from './routes.ts'
export { requireGrantable } from './run-grants.ts'
