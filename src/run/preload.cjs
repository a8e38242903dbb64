/**
 * Leads the TLS and HTTP connections of a Node program through the proxy of `broker run`. Loaded into the child by
 * NODE_OPTIONS: it must be old JavaScript, need nothing, print nothing, and do no harm where it cannot help.
 *
 * Whoever opens a connection, an agent, an SDK, fetch, ends at `net.Socket.prototype.connect`. A socket that comes there
 * for TLS or HTTP gets a tunnel through the proxy in place of a connection of its own, and stays the socket that it is.
 * One that is given a connection already, as those of proxy agents are, does not come there.
 */
'use strict'

try {
  const proxy = proxyOf(process.env.HTTPS_PROXY)
  if (proxy !== undefined) leadThrough(proxy, process.env.NO_PROXY || '')
} catch {
  // A program that goes without its credentials is better than one that does not start.
}

function proxyOf(text) {
  if (!text) return undefined
  const { protocol, hostname, port, username, password } = new URL(text)
  if (protocol !== 'http:') return undefined
  const userinfo = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const authorization = `Basic ${Buffer.from(userinfo).toString('base64')}`
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || 80, authorization }
}

function leadThrough(proxy, noProxy) {
  const net = require('node:net')
  const { Socket } = net
  const { connect } = Socket.prototype
  // Node gives a socket another connection by this method when it tries a host's next address.
  const adopt = Object.getOwnPropertySymbols(Socket.prototype).find((symbol) =>
    /reinitializeHandle$/i.test(symbol.description),
  )
  // A run inside a run brings a preload of its own.
  const mark = Symbol.for('broker.preload')
  if (connect[mark]) return
  // The next best, of a Node that this has never seen.
  if (adopt === undefined) return void require('node:http').setGlobalProxyFromEnv?.()

  let isExcepted
  const isPlainRequest = plainRequests()

  Socket.prototype.connect = function (...args) {
    // A library that answers requests by itself (nock) has put its own way to connect there.
    if (this._handle && Object.hasOwn(this._handle, 'connect')) return connect.apply(this, args)
    const [options, callback] = Array.isArray(args[0]) ? args[0] : net._normalizeArgs(args)
    const authority = this.encrypted || isPlainRequest(options) ? authorityOf(options) : undefined
    if (authority === undefined) return connect.apply(this, args)
    connect.call(this, { host: '127.0.0.1', port: proxy.port }, callback)
    tunnel(this, authority)
    return this
  }
  Socket.prototype.connect[mark] = true

  /** For CONNECT; undefined where the socket is to go its own way, or is for Node to refuse. */
  function authorityOf({ host = 'localhost', port, path }) {
    if (path || typeof host !== 'string' || !(port > 0 && port < 65536)) return undefined
    const name = /^[!-~]+$/.test(host) ? host : require('node:url').domainToASCII(host)
    // Not before it is needed: the first look at an address takes Node some milliseconds.
    isExcepted = isExcepted || exceptions(net, noProxy)
    const isProxy = name === proxy.host && Number(port) === proxy.port
    if (name === '' || isProxy || isExcepted(name, Number(port))) return undefined
    return `${net.isIPv6(name) ? `[${name}]` : name}:${port}`
  }

  /** Gives a connection to `authority` to a socket that was just told to connect. */
  function tunnel(socket, authority) {
    const own = socket._handle
    const way = connect.call(new Socket(), { host: proxy.host, port: proxy.port, noDelay: true })
    let request
    own.connect = (asked) => {
      request = asked
      return 0
    }
    own.ref = () => way.ref()
    own.unref = () => way.unref()
    const leave = () => way.destroy()
    const fail = (reason) => {
      leave()
      socket.destroy(typeof reason === 'string' ? new Error(`${reason} CONNECT ${authority}`) : reason)
    }
    socket.once('close', leave)
    way.on('error', fail)
    way.on('end', () => fail('The proxy closed the connection at'))
    let answer = ''
    way.on('data', (chunk) => {
      answer += chunk.toString('latin1')
      const end = answer.indexOf('\r\n\r\n')
      if (end === -1) return
      if (!/^HTTP\/1\.\d 200 /.test(answer)) return socket.destroy(refusal(answer, authority))
      const handle = way._handle
      handle.readStop()
      handle.reading = false
      way._handle = null
      way.removeAllListeners()
      way.destroy()
      // After the callback that this handle is in.
      process.nextTick(() => {
        socket.removeListener('close', leave)
        if (!socket.connecting) return handle.close()
        // Adopting forgets an end that was said before, and that somebody waits for the session.
        const { writableEnded } = socket
        socket[adopt](handle)
        if (writableEnded) socket.end()
        if (socket.listenerCount('session') > 0) socket._handle.enableSessionCallbacks?.()
        request.oncomplete(0, socket._handle, request, true, true)
      })
    })
    way.write(
      `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\nProxy-Authorization: ${proxy.authorization}\r\n\r\n`,
    )
  }
}

function refusal(answer, authority) {
  const statusCode = Number(answer.split(' ', 2)[1])
  let message = ''
  try {
    message = `: ${JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))).message}`
  } catch {
    // It has not come whole, or it is no answer of ours.
  }
  const error = new Error(`The proxy answered ${statusCode} to CONNECT ${authority}${message}`)
  return Object.assign(error, { code: 'ERR_PROXY_TUNNEL', statusCode })
}

/** Whether a connection about to be opened is for plain HTTP, which its socket does not know. */
function plainRequests() {
  let announced
  // undici says so just before it connects.
  require('node:diagnostics_channel').subscribe('undici:client:beforeConnect', ({ connectParams }) => {
    announced = connectParams.protocol === 'http:' ? connectParams : undefined
  })
  return ({ host, port, _agentKey, createConnection }) => {
    const last = announced
    announced = undefined
    // What node:http hands on of the request: its agent's key, or how the caller wants to be connected.
    if ((_agentKey ?? createConnection) !== undefined) return true
    return last !== undefined && last.hostname === host && Number(last.port || 80) === Number(port)
  }
}

/** Reads NO_PROXY as curl does, and gives what says whether a host and port are in it. */
function exceptions(net, noProxy) {
  let networks
  const names = []
  const entries = noProxy.toLowerCase().split(/[\s,]+/)
  for (const entry of entries.filter(Boolean)) {
    const [, bare, port] = net.isIPv6(entry) ? [entry, entry] : /^(.*?)(?::(\d{1,5}))?$/.exec(entry)
    const [address, bits] = bare.split('/')
    const version = net.isIP(address)
    if (Number(bits) <= (version === 4 ? 32 : version === 6 ? 128 : -1)) {
      networks = networks || new net.BlockList()
      networks.addSubnet(address, Number(bits), `ipv${version}`)
    } else names.push({ name: bare.replace(/^\*?\./, '').replace(/^\[|\]$/g, ''), port: port && Number(port) })
  }
  return (host, port) => {
    const name = host.toLowerCase().replace(/\.$/, '')
    const version = net.isIP(name)
    if (version !== 0 && networks && networks.check(name, `ipv${version}`)) return true
    return names.some(
      (entry) =>
        (!entry.port || entry.port === port) &&
        (entry.name === '*' || entry.name === name || (version === 0 && name.endsWith(`.${entry.name}`))),
    )
  }
}
