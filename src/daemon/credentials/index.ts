/**
 * Which credential a request gets: from the host it goes to, to the headers that carry it, asked anew each time and
 * refreshed once for all who ask; and how what a provider granted is ended. Must never cache an opened credential, nor
 * guess between two providers, nor use a token before it is stored.
 */
export type { ExplainedRequest } from './explain.ts'
export { type Credentials, openCredentials } from './open-credentials.ts'
