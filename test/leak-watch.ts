import assert from 'node:assert/strict'
import type { BrokerHome, CommandOptions, Ended, RunningCommand } from './broker-command.ts'
import { type Answer, type Caller, send } from './daemon-under-test.ts'
import { filesBelow, processTraces, searchForSecrets, type Trace } from './search-for-secret.ts'

/** Does things with a home, and remembers all that could be seen meanwhile. */
export interface LeakWatch {
  broker(args: readonly string[], options?: CommandOptions): Promise<Ended>
  start(args: readonly string[], options?: CommandOptions): WatchedCommand
  /** A signed request. */
  call(method: string, path: string, body?: unknown): Promise<Answer>
  /** A request by a browser, or by anybody. */
  visit(method: string, path: string, body?: string, headers?: Readonly<Record<string, string>>): Promise<Answer>
  remember(...traces: readonly Trace[]): void
  /** What the system shows of this process now. */
  rememberProcess(pid: number | undefined, name: string): void
  /** The browser is to be sent here, with the `state` in it, before the next search: nothing else of the URL may be secret. */
  expectUrl(url: string): void
  /** Nothing of it has been seen since the last time, and none lies about now. */
  assertUnseen(): void
}

export interface WatchedCommand {
  readonly process: RunningCommand['process']
  readonly ended: Promise<Ended>
  /** Waits until it has written this; the first group. */
  said(pattern: RegExp): Promise<string>
}

/** @param secretsInPlay all that must not be seen, as of now */
export function openLeakWatch(world: BrokerHome, one: Caller, secretsInPlay: () => readonly string[]): LeakWatch {
  const traces: Trace[] = []
  const urls = new Set<string>()
  const states = new Set<string>()

  function remember(...more: readonly Trace[]): void {
    traces.push(...more)
  }

  function ended(args: readonly string[], { stdout, stderr, ...rest }: Ended): Ended {
    const where = `broker ${args.join(' ')}`.slice(0, 60)
    remember({ where: `stdout of ${where}`, bytes: stdout }, { where: `stderr of ${where}`, bytes: stderr })
    return { stdout, stderr, ...rest }
  }

  function answered(where: string, answer: Answer): Answer {
    const { status, headers, text } = answer
    remember({ where: `answer to ${where}`, bytes: `${status} ${JSON.stringify(headers)}\n${text}` })
    return answer
  }

  /** As if the expected URLs had not been written there, in a page or plain. */
  function withoutUrls({ where, bytes }: Trace): Trace {
    const spellings = [...urls].flatMap((url) => [url, url.replaceAll('&', '&amp;')])
    const text = Buffer.from(bytes).toString('latin1')
    return {
      where,
      bytes: Buffer.from(
        spellings.reduce((left, url) => left.replaceAll(url, ''), text),
        'latin1',
      ),
    }
  }

  return {
    broker: async (args, options) => ended(args, await world.broker(args, options)),
    start(args, options) {
      const running = follow(world.start(args, options))
      return { ...running, ended: running.ended.then((outcome) => ended(args, outcome)) }
    },
    call: async (method, path, body) => answered(`${method} ${path}`, await one.call(method, path, body)),
    visit: async (method, path, body = '', headers = { accept: 'text/html' }) =>
      answered(`a browser's ${method} ${path.split('?')[0]}`, await send(world.daemon, method, path, body, headers)),
    remember,
    rememberProcess(pid = 0, name) {
      const shown = processTraces(pid, name)
      assert.ok(shown.length === 2 && shown.every(({ bytes }) => bytes.length > 0), `${name} runs`)
      remember(...shown)
    },
    expectUrl(url) {
      urls.add(url)
      states.add(new URL(url).searchParams.get('state') ?? '')
    },
    assertUnseen() {
      const secrets = secretsInPlay()
      const places = [
        ...traces.splice(0).map(withoutUrls),
        { where: 'output of the daemon', bytes: world.daemon.output() },
        ...filesBelow(world.home),
        ...filesBelow(world.temporary),
        ...filesBelow(world.folder),
      ]
      const wanted = [...urls].map((url) => ({ where: 'the URL for the browser', bytes: url }))
      assert.ok(places.length > 10 && secrets.length > 0)
      assert.deepEqual(searchForSecrets(places, [...secrets, ...states]), [])
      assert.deepEqual(searchForSecrets(wanted, secrets), [])
      urls.clear()
    },
  }
}

/** Listens to both of its outputs, unless it is told to which. */
export function follow({ process, ended }: RunningCommand, streams = [process.stdout, process.stderr]): WatchedCommand {
  let text = ''
  const looks = new Set<() => void>()
  for (const stream of streams) {
    stream?.on('data', (chunk) => {
      text += chunk
      for (const look of looks) look()
    })
  }
  const said = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const [, found] = pattern.exec(text) ?? []
        if (found !== undefined) resolve(found)
      }
      looks.add(look)
      void ended.then((outcome) => reject(new Error(`It ended without saying ${pattern}: ${JSON.stringify(outcome)}`)))
      look()
    })
  return { process, ended, said }
}
