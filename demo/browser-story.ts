import { check, heading, quote } from './report.ts'
import { step, type World } from './world.ts'

/** Returns what the dashboard asks the daemon, without its pages: who is signed in, what is connected, and no secret. */
export async function tellBrowserStory(world: World, provider: string, key: string): Promise<void> {
  heading('6. In a browser: `broker dashboard` opens a link that is good once')
  const { stdout } = await step(world, ['dashboard', '--json'])
  const { url } = JSON.parse(stdout) as { url: string }
  const opened = await fetch(url, { redirect: 'manual' })
  const cookie = opened.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
  const ask = async (path: string) => fetch(new URL(path, url), { headers: { cookie, accept: 'application/json' } })
  const connections = await (await ask('/api/connections')).text()
  quote(connections.slice(0, 160))
  check('the browser is signed in', (await ask('/api/me')).status === 200)
  check('it sees what is connected, and not the key', connections.includes(provider) && !connections.includes(key))
  const reveal = await ask(`/api/connections/${provider}/default?reveal=true`)
  check('its cookie alone cannot have the key shown', reveal.status === 403)
  check('the link is used up', (await fetch(url, { redirect: 'manual' })).status === 404)
}
