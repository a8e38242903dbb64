import { listIdentities } from '../../config/index.ts'
import { BrokerError, nearestWord } from '../../protocol/index.ts'
import type { Explanation } from '../../schemas/index.ts'
import type { Invocation } from '../invocation.ts'
import { asAgent } from '../session.ts'

export interface WhyOptions {
  readonly method?: string
  readonly agent?: string
}

const EXIT: Readonly<Record<Explanation['verdict'], number>> = { inject: 0, ask: 0, tunnel: 4, refuse: 4 }

/** A provider that nobody has logged in to; anything else that is not injected is 4. */
const NO_CONNECTION = 3

/** Exit code 0 where a credential would be injected. */
export async function why(invocation: Invocation, target: string, { method, agent }: WhyOptions): Promise<number> {
  const { output } = invocation
  const explanation = await asAgent(invocation, (client) =>
    client
      .why({
        url: urlOf(target),
        ...(method !== undefined && { method }),
        ...(agent !== undefined && { identity: agent }),
      })
      .catch((error: unknown) => {
        throw withMeantAgent(invocation, error, agent)
      }),
  )
  const { verdict, provider, steps, fix } = explanation
  output.result(explanation, () => {
    output.table(
      ['STEP', 'RESULT', 'REASON'],
      steps.map(({ step, result, reason }) => [step, result, reason]),
    )
    output.line(SAID[verdict])
  })
  if (fix !== undefined && !output.json) output.notice(`Mend it: ${fix}`)
  else if (verdict === 'tunnel' && provider === undefined) await sayMeantHost(invocation, target)
  return verdict === 'tunnel' && provider !== undefined ? NO_CONNECTION : EXIT[verdict]
}

function withMeantAgent({ config }: Invocation, error: unknown, agent: string | undefined): unknown {
  if (!(error instanceof BrokerError) || error.name !== 'NotFoundError' || agent === undefined) return error
  const meant = nearestWord(agent, listIdentities(config.paths))
  const hint = meant === undefined ? 'See `broker agent list`.' : `Did you mean ${meant}?`
  return new BrokerError(error.name, error.message, { ...error.options, hint, cause: error })
}

/** Whoever gives a provider's name means its host; and a host that is one slip of the keys beside a provider's, that one. */
async function sayMeantHost(invocation: Invocation, target: string): Promise<void> {
  const { bundled, custom } = await asAgent(invocation, (client) => client.providers())
  const all = [...custom, ...bundled]
  if (target.includes('.')) {
    const host = nearHost(
      URL.parse(urlOf(target))?.hostname ?? '',
      all.flatMap(({ hosts }) => hosts),
    )
    if (host !== undefined) invocation.output.notice(`Did you mean \`broker why ${host}\`?`)
    return
  }
  const name = all.some((one) => one.name === target)
    ? target
    : nearestWord(
        target,
        all.map((one) => one.name),
      )
  const [host] = all.find((one) => one.name === name)?.hosts ?? []
  if (host !== undefined) invocation.output.notice(`${name} is a provider. Did you mean \`broker why ${host}\`?`)
}

/** The host whose labels are the same but for one, and that one nearly. */
function nearHost(host: string, hosts: readonly string[]): string | undefined {
  const labels = host.split('.')
  return hosts.find((other) => {
    const others = other.split('.')
    const different = labels.flatMap((label, at) => (label === others[at] ? [] : [at]))
    const [only = -1] = different
    const isOne = others.length === labels.length && different.length === 1
    return isOne && nearestWord(labels[only] ?? '', [others[only] ?? '']) !== undefined
  })
}

const SAID: Readonly<Record<Explanation['verdict'], string>> = {
  inject: 'The request gets a credential.',
  ask: 'Somebody is asked first.',
  tunnel: 'The request passes as it is, without a credential.',
  refuse: 'The request is refused.',
}

/** A host alone means https. What somebody typed may be a secret: it is not repeated. */
function urlOf(target: string): string {
  const url = URL.parse(target.includes('://') ? target : `https://${target}`)
  if (url) return `${url.protocol}//${url.host}${url.pathname}`
  throw new BrokerError('InvalidRequestError', 'This is no URL and no host', {
    hint: 'broker why https://api.github.com/user',
  })
}
