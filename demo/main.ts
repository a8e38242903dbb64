/**
 * `npm run demo [-- <broker>]`: what Broker promises, shown and checked on this machine alone, by the command line of this
 * checkout or the one named. Exits 0 only where all of it held.
 */

import { startOpenIdProvider } from '../test/openid-provider.ts'
import { HOST, KEY, OTHER_HOST, tellApiKeyStory } from './api-key-story.ts'
import { startLocalApi } from './local-api.ts'
import { DRIVE_HOST, tellOAuthStory } from './oauth-story.ts'
import { verdict } from './report.ts'
import { makeWorld } from './world.ts'

async function main(): Promise<number> {
  const started = performance.now()
  const provider = await startOpenIdProvider()
  const keyApi = await startLocalApi([HOST, OTHER_HOST], KEY)
  const tokenApi = await startLocalApi([DRIVE_HOST], (token) => provider.isActive(token))
  const world = await makeWorld([keyApi, tokenApi], process.argv[2])
  try {
    await tellApiKeyStory(world, keyApi)
    await tellOAuthStory({ world, provider, api: tokenApi })
  } finally {
    await world.close()
    keyApi.close()
    tokenApi.close()
    await provider.close()
  }
  return verdict(performance.now() - started)
}

process.exitCode = await main()
