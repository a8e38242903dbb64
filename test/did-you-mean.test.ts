import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { type BrokerHome, logIn, onboarded } from './broker-command.ts'
import { suiteCleanup } from './daemon-under-test.ts'

const MISSPELT: readonly (readonly [command: string, meant: string])[] = [
  ['onbord', 'broker onboard'],
  ['connections lst', 'broker connections list'],
  ['help provider lst', 'broker provider list'],
  ['daemon logs --folow', '--follow'],
  ['onboard --from dokcer', 'docker'],
  ['onboard --from github', 'gh'],
  ['onboard --from githb', 'gh'],
  ['login opnai', 'openai'],
  ['login openai --flow apikey', 'api_key'],
  ['login openai --flow pkc', 'pkce'],
  ['logout opnai', 'openai'],
  ['logout openai --connection wrok', 'work'],
  ['connections set-default openai wrok', 'work'],
  ['connections approve openai --connection wrok --yes', 'work'],
  ['connections inspect opnai', 'openai'],
  ['provider inspect opnai', 'openai'],
  ['provider export opnai', 'openai'],
  ['provider revoke opnai --yes', 'openai'],
  ['provider remove opnai --yes', 'openai'],
  ['run --only opnai -- true', 'openai'],
  ['run --connection opnai=work -- true', 'openai'],
  ['run --connection openai=wrok -- true', 'work'],
  ['log --event provider.logn', 'provider.login'],
  ['log --status sucess', 'success'],
  ['log --provider opnai', 'openai'],
  ['log --identity ci-runer', 'ci-runner'],
  ['agent use ci-runer', 'ci-runner'],
  ['agent remove ci-runer --yes', 'ci-runner'],
  ['why opnai', 'broker why api.openai.com'],
  ['why https://api.opnai.com/v1', 'broker why api.openai.com'],
  ['why https://api.openai.com --agent ci-runer', 'ci-runner'],
  ['completion bsh', 'bash'],
]

describe('a word that is misspelt', { timeout: 120_000 }, () => {
  const cleanup = suiteCleanup()
  let world: BrokerHome
  before(async () => {
    world = await onboarded(cleanup)
    await logIn(world, 'openai', `sk-CNRY${'a'.repeat(40)}`, ['--connection', 'work'])
    await world.broker(['agent', 'create', 'ci-runner'])
  })

  for (const [command, meant] of MISSPELT)
    it(`is answered with what was meant: broker ${command}`, async () => {
      const { stderr } = await world.broker(command.split(' '), { input: '' })
      assert.match(stderr, new RegExp(`did you mean [\`"]?${meant.replaceAll('.', '\\.')}(?![\\w-])`, 'i'), stderr)
    })

  it('is answered with nothing where nothing is near', async () => {
    for (const command of ['why api.somewhere.example', 'log --provider something-else', 'login openai --flow x']) {
      const { stderr } = await world.broker(command.split(' '), { input: '' })
      assert.doesNotMatch(stderr, /did you mean/i)
    }
  })
})
