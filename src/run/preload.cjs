/**
 * Makes fetch and https of a Node that knows no NODE_USE_ENV_PROXY (before 22.21, and 24.0 to 24.4) go through the
 * proxy of `broker run`. Loaded into the child by NODE_OPTIONS: it must be old JavaScript, need nothing, and change
 * nothing where Node does it by itself.
 */
'use strict'

const [major, minor] = process.versions.node.split('.').map(Number)
const isBuiltIn = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21)
const proxy = parseUrl(process.env.HTTPS_PROXY)
if (!isBuiltIn && proxy !== undefined && proxy.protocol === 'http:') useProxy(proxy)

function useProxy(proxy) {
  const http = require('node:http')
  const https = require('node:https')
  const net = require('node:net')
  const tls = require('node:tls')

  const userinfo = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  const authorization = `Basic ${Buffer.from(userinfo).toString('base64')}`
  const exceptions = (process.env.NO_PROXY || '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)

  const connectDirectly = http.Agent.prototype.createConnection
  const connectSecurely = https.Agent.prototype.createConnection
  // The requests to the proxy itself need an agent that none of this changes.
  const toProxy = new http.Agent()
  toProxy.createConnection = (options) => net.connect(options)

  http.Agent.prototype.createConnection = function (options, callback) {
    if (!isProxied(options)) return connectDirectly.call(this, options, callback)
    tunnel(options, 80, callback)
  }
  https.Agent.prototype.createConnection = function (options, callback) {
    if (!isProxied(options)) return connectSecurely.call(this, options, callback)
    tunnel(options, 443, (error, socket) => {
      if (error) callback(error)
      else callback(null, connectSecurely.call(this, { ...options, socket }))
    })
  }
  useInFetch()

  /** Opens a connection to the host of `options` through the proxy, as `callback(error, socket)`. */
  function tunnel(options, defaultPort, callback) {
    const host = options.hostname || options.host
    const authority = `${net.isIPv6(host) ? `[${host}]` : host}:${options.port || defaultPort}`
    const request = http.request({
      agent: toProxy,
      host: proxy.hostname,
      port: proxy.port,
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, 'proxy-authorization': authorization },
    })
    request.once('connect', (answer, socket) => {
      if (answer.statusCode === 200) return callback(null, socket)
      socket.destroy()
      callback(new Error(`The proxy answered ${answer.statusCode} to CONNECT ${authority}`))
    })
    request.once('error', callback)
    request.end()
  }

  /**
   * The fetch built into Node keeps its dispatcher, an undici Agent, under a symbol of the global object from the moment
   * it is loaded; another Agent takes our connector. Loading it costs some milliseconds, so that waits for the first call.
   */
  function useInFetch() {
    const { fetch } = globalThis
    if (fetch === undefined) return
    globalThis.fetch = function (...args) {
      globalThis.fetch = fetch
      useDispatcher()
      return fetch.apply(this, args)
    }
  }

  let isDispatching = false
  function useDispatcher() {
    if (isDispatching) return
    isDispatching = true
    // Naming it loads it.
    void globalThis.Response
    const key = Symbol.for('undici.globalDispatcher.1')
    const agent = globalThis[key]
    if (agent?.constructor.name === 'Agent') globalThis[key] = new agent.constructor({ connect: connectForFetch })
  }

  function connectForFetch({ hostname, port, protocol, servername }, callback) {
    const host = hostname.replace(/^\[|\]$/g, '')
    const secure = protocol === 'https:'
    const options = { host, port: Number(port) || (secure ? 443 : 80) }
    const finish = (socket) => {
      const last = secure
        ? tls.connect({ socket, servername: servername || (net.isIP(host) ? '' : host), ALPNProtocols: ['http/1.1'] })
        : socket
      const event = secure ? 'secureConnect' : 'connect'
      const fail = (error) => callback(error)
      last.once('error', fail)
      const done = () => {
        last.removeListener('error', fail)
        callback(null, last)
      }
      if (!secure && !socket.connecting) done()
      else last.once(event, done)
    }
    if (!isProxied(options)) finish(net.connect(options))
    else tunnel(options, options.port, (error, socket) => (error ? callback(error) : finish(socket)))
  }

  function isProxied({ host, hostname, port, socketPath, path: localPath, socket }) {
    const name = String(hostname || host || '').toLowerCase()
    if (socketPath || socket || name === '' || (localPath && !port)) return false
    return !exceptions.some((entry) => {
      const [suffix, entryPort] = net.isIPv6(entry) ? [entry] : entry.split(/:(?=\d{1,5}$)/)
      if (entryPort && Number(entryPort) !== Number(port)) return false
      const bare = suffix.replace(/^\*?\.?/, '').replace(/^\[|\]$/g, '')
      return entry === '*' || name === bare || name.endsWith(`.${bare}`)
    })
  }
}

function parseUrl(text) {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
