import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { whyNoIsolation } from '../../test/isolation-here.ts'
import { keyringSockets } from './hidden-places.ts'
import { IsolationUnavailable } from './level.ts'
import { raiseShield } from './shield.ts'

describe('the shield as a place', { skip: whyNoIsolation() }, () => {
  it('hides a key file elsewhere and the sockets of the keyring, and no other socket', async (t) => {
    const { folder, hidden } = places(t)
    const keyFile = join(folder, 'master.key')
    writeFileSync(keyFile, 'CNRY')
    const [bus, other] = [await answering(t, join(folder, 'bus')), await answering(t, join(folder, 'other'))]
    const connect = `require('node:net').connect(process.argv[1]).on('connect', () => process.exit(7)).on('error', () => process.exit(3))`
    const shield = await raiseShield({ ...place(folder), hidden: { ...hidden, keyFile, keyring: [bus] } })
    t.after(() => shield.release())

    const codes = [
      await codeOf(shield.enclosed(['sh', '-c', `cat ${keyFile} || exit 5`])),
      await codeOf(shield.enclosed([process.execPath, '-e', connect, bus])),
      await codeOf(shield.enclosed([process.execPath, '-e', connect, other])),
    ]

    assert.deepEqual(codes, [5, 3, 7])
  })

  it('hides the home also where it is a link, and by every way to it', async (t) => {
    const { folder, hidden } = places(t)
    const link = join(folder, 'link')
    symlinkSync(hidden.home, link)
    const shield = await raiseShield({ ...place(folder), hidden: { ...hidden, home: link } })
    t.after(() => shield.release())

    const look = `for way in ${link} ${hidden.home} ./home ${folder}/../${folder.split('/').at(-1)}/home; do test -e $way/secret && exit 1; done; exit 4`
    assert.equal(await codeOf(shield.enclosed(['sh', '-c', look])), 4)
  })

  it('goes on for what runs in it when it is let go of', async (t) => {
    const { folder, hidden } = places(t)
    const shield = await raiseShield({ ...place(folder), hidden })
    const [file, ...args] = shield.enclosed(['sh', '-c', `echo in; read -r _; test -e ${hidden.home}/secret || exit 6`])
    const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')

    shield.release()
    child.stdin.end('on\n')

    assert.equal((await once(child, 'exit'))[0], 6)
  })

  it('is not had for a command that needs a folder of the home, nor without its tools', async (t) => {
    const { folder, hidden } = places(t)

    await assert.rejects(raiseShield({ ...place(hidden.home), hidden }), IsolationUnavailable)
    const environment = { PATH: folder }
    await assert.rejects(raiseShield({ ...place(folder), hidden, environment }), /no bwrap on the PATH/)
  })
})

describe('the sockets of the keyring', () => {
  it('are those that the bus is named by, and where the system keeps it', (t) => {
    const { folder } = places(t)
    mkdirSync(join(folder, 'systemd'))
    for (const name of ['a bus', 'bus', 'systemd/private']) writeFileSync(join(folder, name), '')
    const address = `unix:abstract=/tmp/none;unix:path=${folder}/a%20bus,guid=0123`

    const found = keyringSockets({ DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: folder }, 1000)

    assert.deepEqual(found, [join(folder, 'a bus'), join(folder, 'bus'), join(folder, 'systemd', 'private')])
  })
})

function places(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'broker-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const hidden = { home: join(folder, 'home'), instead: join(folder, 'home', 'shown') }
  mkdirSync(hidden.instead, { recursive: true })
  writeFileSync(join(hidden.home, 'secret'), 'CNRY')
  return { folder, hidden }
}

function place(folder: string) {
  return { folder, needed: [tmpdir()], environment: process.env }
}

async function answering(t: TestContext, path: string): Promise<string> {
  const server = createServer((socket) => socket.end()).listen(path)
  await once(server, 'listening')
  t.after(() => server.close())
  return path
}

async function codeOf([file, ...args]: readonly [string, ...string[]]): Promise<number | null> {
  const child = spawn(file, args, { stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  return code as number | null
}
