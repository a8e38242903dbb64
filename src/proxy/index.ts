/**
 * The injecting proxy of `broker run`, between one child and the services it calls: byte-exact where both speak HTTP/1.1, by
 * fields and data where one speaks HTTP/2. It asks
 * the daemon for the credential of each request, holds none, and keeps its certificate authority in memory only.
 * Must never inject on plain http, under an authority other than the one the child connected to, or into a request the
 * daemon did not allow; must never forward such a request bare; must never weaken upstream TLS.
 */

export { type ConnectTo, parseConnectTo } from './connect-to.ts'
export { type CorporateProxy, type CorporateProxyEnvironment, parseCorporateProxy } from './corporate-proxy.ts'
export { loopbackSocket } from './loopback-sockets.ts'
export { throughOuterRun } from './outer-run.ts'
export { overridesOf } from './overrides.ts'
export { type Broker, newProxyPassword, type ProxyOptions, type RunningProxy, startProxy } from './start-proxy.ts'
export { type CertificateAuthority, createCertificateAuthority } from './tls/index.ts'
export { joinSockets } from './tunnel.ts'
