import { execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { BROKER } from '../broker-command.ts'
import { commandOf, type Start } from './start.ts'
import { FIRST, LAST } from './stream-words.ts'
import type { World } from './world.ts'

const run = promisify(execFile)
const SIZE = ['-x', '120', '-y', '40']
const PATIENCE = 90_000

/**
 * Runs it in a terminal of tmux, presses what its terms say, and leaves when the last piece is on the screen. `output` are
 * the screens that it showed.
 */
export async function runInTerminal(
  world: World,
  start: Start,
): Promise<{ readonly code: undefined; readonly output: string }> {
  const { env, place, client } = start
  const socket = join(place.temporary, 'tmux')
  const tmux = async (...args: readonly string[]) =>
    (await run('tmux', ['-S', socket, '-f', '/dev/null', ...args], { env })).stdout
  const environment = { ...world.broker.env, ...env }
  await tmux(
    'new-session',
    '-d',
    ...SIZE,
    '-c',
    place.folder,
    'env',
    '-i',
    ...assignments(environment),
    BROKER,
    ...commandOf(start),
  )
  // It may have left already.
  const press = (...keys: readonly string[]) => tmux('send-keys', ...keys).catch(() => '')
  // In control mode it tells of each change, and ends with the session.
  const control = spawn('tmux', ['-S', socket, '-C', 'attach'], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  const timer = setTimeout(() => void tmux('kill-server').catch(() => ''), PATIENCE)
  const screens: string[] = []
  const answers = client.terminal?.answers ?? []
  const answered = new Set<RegExp>()
  const leaving = [...(client.terminal?.leave ?? [])]
  for await (const line of createInterface({ input: control.stdout })) {
    if (!line.startsWith('%')) continue
    const screen = await tmux('capture-pane', '-p').catch(() => '')
    if (screen !== screens.at(-1)) screens.push(screen)
    if (screen.includes(FIRST)) start.onFirst()
    for (const [shown, keys] of answers) {
      if (!shown.test(screen)) answered.delete(shown)
      else if (!answered.has(shown)) {
        answered.add(shown)
        await press(...keys)
      }
    }
    if (screen.includes(LAST)) for (const keys of leaving.splice(0)) await press(keys)
  }
  clearTimeout(timer)
  return { code: undefined, output: screens.join('\n') }
}

function assignments(environment: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(environment).map(([name, value]) => `${name}=${value}`)
}
