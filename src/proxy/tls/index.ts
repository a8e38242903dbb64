/**
 * TLS on both legs: the certificate authority of one run with its leaves, and whom upstream is trusted. Keeps every key in
 * memory alone. Must never issue for a host that is not routed, never weaken the verification of a service, and never
 * write the keys of a connection anywhere.
 */
export { type CertificateAuthority, createCertificateAuthority } from './certificate-authority.ts'
export { askedServerName, endTls } from './child-tls.ts'
export { issuerOfUntrusted } from './peer-issuer.ts'
export { UpstreamTls } from './upstream-tls.ts'
