/**
 * What is made with a key that is never sent: the signature of one request (AWS Signature Version 4), and assertions that
 * are exchanged for a token, or that an OAuth client shows itself by. Pure: keys, requests and times come in, headers and assertions go out. Must never ask the
 * network, keep anything, or repeat a key in an error.
 */
export { scopeOfHost } from './aws-scope.ts'
export { appAssertion, clientAssertion, serviceAccountAssertion } from './jwt-assertion.ts'
export { parseClientKey, parsePrivateKey } from './private-key.ts'
export { parseServiceAccount, type ServiceAccount } from './service-account.ts'
export { type AwsKey, sigV4Headers } from './sigv4.ts'
