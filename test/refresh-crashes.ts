import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Caller,
  type Cleanup,
  caller,
  type DaemonUnderTest,
  owner,
  startDaemon,
  temporaryHome,
} from './daemon-under-test.ts'
import { ACME_HOST, acmeDefinition, expireTokens, logInByBrowser } from './oauth-login.ts'
import { type OpenIdProvider, startOpenIdProvider } from './openid-provider.ts'

/** How the rounds ended. */
export interface CrashReport {
  /** The token of before the crash, or the one that was granted, serves on. */
  kept: number
  /** The provider had rotated the token, its answer was lost with the daemon, and the connection says so. */
  interrupted: number
  /** The connection was given up although the provider still honours its token. */
  lost: number
}

/**
 * Kills the daemon with SIGKILL at a random moment of a refresh, again and again, against a provider that rotates refresh
 * tokens and ends the grant of one that it sees twice.
 */
export async function crashRefreshes(
  t: Cleanup,
  rounds: number,
  onRound: (report: CrashReport) => void = () => undefined,
): Promise<CrashReport> {
  const provider = await startOpenIdProvider()
  t.after(() => provider.close())
  const home = temporaryHome(t)
  let daemon = await startDaemon(t, { home })
  const ada = await owner(daemon)
  assert.equal((await ada.call('POST', '/api/providers', { definition: acmeDefinition(provider) })).status, 201)
  await logInByBrowser(daemon, ada, provider)
  const report: CrashReport = { kept: 0, interrupted: 0, lost: 0 }
  for (let round = 0; round < rounds; round++) {
    const rotated = await crash(daemon, caller(daemon, 'ada', ada.key), provider)
    daemon = await startDaemon(t, { home })
    const again = caller(daemon, 'ada', ada.key)
    if (await isUsable(again, provider)) {
      report.kept += 1
    } else {
      report[rotated ? 'interrupted' : 'lost'] += 1
      await logInByBrowser(daemon, again, provider, { force: true })
    }
    onRound(report)
  }
  return report
}

/** Returns whether the provider had settled its answer before the daemon was killed. */
async function crash(daemon: DaemonUnderTest, ada: Caller, provider: OpenIdProvider): Promise<boolean> {
  let rotated = false
  const settled = Promise.withResolvers<void>()
  provider.settings.beforeTokenAnswer = ({ status }) => {
    rotated ||= status === 200
    settled.resolve()
  }
  expireTokens(daemon.home)
  // It fails, of course, when it is cut off.
  const resolved = ada.call('POST', '/api/credentials/resolve', { host: ACME_HOST }).catch(() => undefined)
  if (randomInt(2) === 0) await settled.promise
  await delay(randomInt(40) / 2)
  await daemon.stop('SIGKILL')
  await resolved
  const answered = rotated
  provider.settings.beforeTokenAnswer = () => undefined
  return answered
}

async function isUsable(ada: Caller, provider: OpenIdProvider): Promise<boolean> {
  const { status, body } = await ada.call('POST', '/api/credentials/resolve', { host: ACME_HOST })
  if (status === 200) {
    const token = String(body.headers.Authorization).replace('Bearer ', '')
    assert.ok(await provider.isActive(token), 'a token was handed out that the provider does not honour')
    return true
  }
  assert.equal(body.error, 'RefreshFailedError')
  const { body: detail } = await ada.call('GET', '/api/connections/acme/default?reveal=true')
  assert.equal(detail.status, 'needs_login')
  assert.equal(await provider.isActive(detail.credential.refresh_token), false)
  return false
}
