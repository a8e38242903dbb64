/**
 * The first program in a sandbox: starts the command there, and is its way out. It listens on loopback, which is the sandbox's own,
 * and passes bytes to sockets of the run outside. `broker run` speaks with it over the channel that it was born with: what a terminal sends, and
 * the program that made the sandbox does not pass on, the command hears all the same.
 * JavaScript without imports of ours: it is started often, and all it needs is in its one message.
 */
'use strict'
const { spawn } = require('node:child_process')
const { createServer, connect } = require('node:net')
const { constants } = require('node:os')

// The terminal sends its signals to the command as well; the others come by the channel.
for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2']) process.on(signal, () => {})

let command
process.on('message', (message) => {
  if (message.type === 'start')
    start(message).catch((error) => end({ code: 126, error: { code: error.code, message: error.message } }))
  else if (message.type === 'signal') command?.kill(message.signal)
})
// Nobody is left who would hear how it ends.
process.on('disconnect', () => (command?.pid === undefined ? process.exit(1) : command.kill('SIGTERM')))

async function start({ file, args, environment, descriptors, ways }) {
  await Promise.all(ways.map((way) => open(way, environment)))
  const stdio = [0, 1, 2]
  for (let number = 3; number <= Math.max(2, ...descriptors); number += 1) {
    stdio.push(descriptors.includes(number) ? number : 'ignore')
  }
  command = spawn(file, args, { env: environment, stdio })
  command.once('error', (error) => end({ error: { code: error.code, message: error.message } }))
  command.once('exit', (code, signal) => end({ code: signal === null ? code : 128 + constants.signals[signal] }))
}

/** Listens for one way out: to a socket outside, or by a CONNECT of the proxy there. */
function open({ host, port, socket, target, offers }, environment) {
  if (offers) return offer(port, socket)
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (inside) => {
    const outside = connect({ path: socket, allowHalfOpen: true })
    if (target === undefined) return join(inside, outside)
    outside.write(connectTo(target, environment))
    answered(
      outside,
      () => join(inside, outside),
      () => inside.destroy(),
    )
  })
  const open = listening(server, { host, port })
  // Ports below 1024 may be root's: what knows the proxy gets there all the same.
  return target === undefined
    ? open
    : open.catch(({ code }) => process.send({ type: 'closed', port, why: String(code) }))
}

function connectTo(target, { HTTPS_PROXY }) {
  const { username, password } = new URL(HTTPS_PROXY)
  const basic = Buffer.from(`${username}:${password}`).toString('base64')
  return `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nProxy-Authorization: Basic ${basic}\r\n\r\n`
}

/** What listens inside is reached from outside: a connection of ours waits there for each that comes. */
function offer(port, socket) {
  const wait = () => {
    const outside = connect({ path: socket, allowHalfOpen: true })
    outside.on('error', () => {})
    outside.once('data', (first) => {
      outside.pause()
      // The first byte says that somebody came.
      if (first.length > 1) outside.unshift(first.subarray(1))
      wait()
      join(outside, connect({ host: '127.0.0.1', port, allowHalfOpen: true }))
    })
  }
  wait()
}

function listening(server, where) {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, resolve)
  })
}

function answered(outside, then, otherwise) {
  let text = ''
  const read = (chunk) => {
    text += chunk.toString('latin1')
    const stop = text.indexOf('\r\n\r\n')
    if (stop === -1) return
    outside.off('data', read)
    outside.pause()
    if (!/^HTTP\/1\.\d 2/.test(text)) return otherwise()
    const rest = text.slice(stop + 4)
    if (rest !== '') outside.unshift(Buffer.from(rest, 'latin1'))
    then()
  }
  outside.on('data', read)
  outside.on('error', otherwise)
}

function join(one, other) {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ]) {
    from.on('error', () => to.destroy())
    from.on('close', () => {
      if (!from.readableEnded || !from.writableFinished) to.destroy()
    })
    from.pipe(to)
  }
}

function end(outcome) {
  if (!process.connected) process.exit(0)
  process.send({ type: 'ended', ...outcome }, () => process.exit(0))
}
