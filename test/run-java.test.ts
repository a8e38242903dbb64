import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import type { LocalApi } from '../demo/local-api.ts'
import { whyNot } from '../tools/available.ts'
import { acmeHome } from './acme-home.ts'
import type { BrokerHome } from './broker-command.ts'
import { suiteCleanup } from './daemon-under-test.ts'
import { markedSecret } from './search-for-secret.ts'

const HOST = 'api.acme-java.example'
const KEY = markedSecret('ak-')

describe('Java behind broker run', { timeout: 240_000, skip: whyNot('java') }, () => {
  const cleanup = suiteCleanup()
  let api: LocalApi
  let world: BrokerHome
  before(async () => {
    ;({ api, world } = await acmeHome(cleanup, { providers: { acme: HOST }, key: KEY }))
    writeFileSync(join(world.folder, 'Clients.java'), CLIENTS)
    writeFileSync(join(world.folder, 'pom.xml'), POM)
  })

  it('reaches the API by each of its own clients, none of which was told of a proxy', async () => {
    const url = `https://${HOST}/v1/items`

    const { code, stdout, stderr } = await world.broker(['run', '--', 'java', 'Clients.java', url])

    assert.equal(code, 0, stderr)
    assert.deepEqual(stdout.trim().split('\n'), [
      'HttpURLConnection 200',
      'HttpClient 200',
      'newHttpClient 200',
      'in the background 200',
    ])
    assert.ok(api.received.every(({ headers }) => headers.authorization === `Bearer ${KEY}`))
  })

  it('keeps the listener without credentials to the processes of the run', async () => {
    const run = await world.startAsking()
    const [, port = ''] = /-Dhttps\.proxyPort=(\d+)/.exec(run.child.env['JAVA_TOOL_OPTIONS'] ?? '') ?? []

    assert.match(await answerTo(Number(port)), /^HTTP\/1\.1 407 /)

    assert.notEqual(port, new URL(run.child.env['HTTPS_PROXY'] ?? '').port)
    await run.end()
  })

  it('lets Maven load from a repository that wants the key', {
    skip: whyNot('maven'),
  }, async () => {
    const args = ['mvn', '--batch-mode', '-Dmaven.repo.local=repository', 'dependency:resolve']

    await world.broker(['run', '--', ...args])

    const asked = api.received.filter(({ line }) => line.startsWith('GET /maven/'))
    assert.notEqual(asked.length, 0)
    assert.ok(asked.every(({ headers }) => headers.authorization === `Bearer ${KEY}`))
  })
})

/** Returns what a process that is none of the run's is told. */
async function answerTo(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`CONNECT ${HOST}:443 HTTP/1.1\r\nHost: ${HOST}:443\r\n\r\n`)
  const [chunk] = await once(socket, 'data')
  socket.destroy()
  return String(chunk)
}

const CLIENTS = `
import java.net.*; import java.net.http.*; import java.net.http.HttpResponse.BodyHandlers;
class Clients {
  public static void main(String[] args) throws Exception {
    URI uri = URI.create(args[0]);
    System.out.println("HttpURLConnection " + ((HttpURLConnection) uri.toURL().openConnection()).getResponseCode());
    HttpRequest request = HttpRequest.newBuilder(uri).build();
    HttpClient built = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    System.out.println("HttpClient " + built.send(request, BodyHandlers.ofString()).statusCode());
    HttpClient plain = HttpClient.newHttpClient();
    System.out.println("newHttpClient " + plain.send(request, BodyHandlers.ofString()).statusCode());
    System.out.println("in the background " + plain.sendAsync(request, BodyHandlers.ofString()).get().statusCode());
  }
}
`

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>test</groupId><artifactId>test</artifactId><version>1</version>
  <pluginRepositories><pluginRepository><id>central</id><url>https://${HOST}/maven</url></pluginRepository></pluginRepositories>
</project>
`
