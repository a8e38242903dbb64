/**
 * The command of a run that tries to get what is not for it, for `broker doctor --isolation` and the tests. Prints as JSON which
 * attacks got through and how; of what it gets it tells nothing. It changes nothing that is there.
 */
'use strict'
const fs = require('node:fs')
const http = require('node:http')
const net = require('node:net')
const os = require('node:os')

const LIMIT = 3000

/** Each throws, or gives a sentence about how it got through; undefined where it did not. */
const attacks = {
  identity_key: readAny,
  master_key: readAny,
  owner_secrets: readAny,
  vault_store: readAny,
  keyring: connectAny,
  broker_settings: ([home]) => write(`${home}/attacked`),
  daemon_memory: (pids) => look(pids, 'mem'),
  daemon_environment: (pids) => look(pids, 'environ'),
  run_memory: (pids) => look([...pids, ...parents()], 'mem'),
  run_environment: (pids) => look([...pids, ...parents()], 'environ'),
  sign_in_link: ([port]) => askAll('POST', '/api/session', port),
  secret_from_run: ([port]) => askAll('POST', '/api/credentials/resolve', port),
  daemon: ([port]) => dial('127.0.0.1', port),
  metadata_address: async ([address]) => (await dial(address, 80)) ?? (await throughProxy(address, 80)),
  network_without_proxy: async ([port]) => (await dial('127.0.0.1', port)) ?? otherInterfaces(),
  machine_through_proxy: async ([port]) =>
    (await throughProxy('127.0.0.1', port)) ?? (await throughProxy('localhost', port)),
  ssh_agent: connectAny,
  docker_socket: connectAny,
  kill_parent: ([pid]) => {
    process.kill(pid, 0)
    return 'a signal reaches it'
  },
  // Whoever is outside sees whether it got there, and removes it.
  write_outside: ([path]) => {
    fs.writeFileSync(path, '', { flag: 'wx' })
    return `${path} can be written`
  },
}

async function main() {
  const outcomes = []
  for (const [name, about] of Object.entries(JSON.parse(process.argv[2]))) {
    const how = await Promise.resolve()
      .then(() => attacks[name](about))
      .catch(() => undefined)
    outcomes.push(how === undefined ? { name, verdict: 'held' } : { name, verdict: 'leaked', detail: how })
  }
  process.stdout.write(`${JSON.stringify(outcomes)}\n`, () => process.exit(0))
}

function readAny(paths) {
  const read = paths.filter((path) => attempt(() => fs.closeSync(fs.openSync(path, 'r'))))
  return read.length === 0 ? undefined : `${read[0]} can be read`
}

function look(pids, name) {
  const seen = pids.filter((pid) =>
    attempt(() => fs.readSync(fs.openSync(`/proc/${pid}/${name}`, 'r'), Buffer.alloc(1), 0, 1, MAPPED(pid, name))),
  )
  return seen.length === 0 ? undefined : `/proc/${seen[0]}/${name} can be read`
}

/** Memory is read where some is mapped; that the file opens is enough to know. */
function MAPPED(pid, name) {
  if (name !== 'mem') return null
  return Number.parseInt(fs.readFileSync(`/proc/${pid}/maps`, 'latin1').split('-')[0], 16)
}

/** The processes that this one descends from, outside of the first of a namespace. */
function parents() {
  const found = []
  for (let pid = process.ppid; pid > 1 && found.length < 2; ) {
    if (!fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('sandbox-init')) found.push(pid)
    pid = Number(/^PPid:\s*(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'latin1'))[1])
  }
  return found
}

function attempt(act) {
  try {
    act()
    return true
  } catch {
    return false
  }
}

function write(path) {
  fs.writeFileSync(path, '', { flag: 'wx' })
  fs.rmSync(path)
  return `${path} can be written`
}

async function connectAny(paths) {
  for (const path of paths) if (await opened(net.connect(path))) return `${path} answers`
  return undefined
}

async function dial(host, port) {
  // As a program does that knows no proxy, and no preload of Node's.
  const socket = new net.Socket()
  return (await opened(socket.connect({ host, port }))) ? `${host}:${port} answers` : undefined
}

function opened(socket) {
  return new Promise((resolve) => {
    const settle = (how) => {
      socket.destroy()
      resolve(how)
    }
    socket.setTimeout(LIMIT, () => settle(false))
    socket.once('connect', () => settle(true))
    socket.once('error', () => settle(false))
  })
}

function otherInterfaces() {
  const others = Object.values(os.networkInterfaces())
    .flat()
    .filter(({ internal }) => !internal)
  return others.length === 0 ? undefined : 'there is a network besides'
}

function throughProxy(host, port) {
  const { hostname, port: at, username, password } = new URL(process.env.HTTPS_PROXY)
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  return new Promise((resolve) => {
    const path = `${host}:${port}`
    const headers = { host: path, 'proxy-authorization': authorization }
    const asked = http.request({
      host: hostname,
      port: at,
      method: 'CONNECT',
      path,
      headers,
      agent: false,
      timeout: LIMIT,
    })
    asked.once('connect', ({ statusCode }, socket) => {
      socket.destroy()
      resolve(statusCode === 200 ? `the proxy leads to ${path}` : undefined)
    })
    asked.once('timeout', () => asked.destroy())
    asked.once('error', () => resolve(undefined))
    asked.end()
  })
}

async function askAll(method, path, port) {
  const socketPath = process.env.BROKER_RUN_SOCKET
  const ways = [...(socketPath ? [{ socketPath }] : []), ...(port === 0 ? [] : [{ host: '127.0.0.1', port }])]
  for (const way of ways) if (await answers({ ...way, method, path })) return `${method} ${path} is answered`
  return undefined
}

function answers(request) {
  return new Promise((resolve) => {
    const body = JSON.stringify({ host: 'api.openai.com' })
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    const asked = http.request({ ...request, headers, agent: false, timeout: LIMIT }, (answer) => {
      answer.resume()
      resolve(answer.statusCode < 300)
    })
    asked.once('timeout', () => asked.destroy())
    asked.once('error', () => resolve(false))
    asked.end(body)
  })
}

void main()
