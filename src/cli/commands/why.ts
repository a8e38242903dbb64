import { BrokerError } from '../../protocol/index.ts'
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
    client.why({
      url: urlOf(target),
      ...(method !== undefined && { method }),
      ...(agent !== undefined && { identity: agent }),
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
  else if (!target.includes('.') && provider === undefined) await sayMeantHost(invocation, target)
  return verdict === 'tunnel' && provider !== undefined ? NO_CONNECTION : EXIT[verdict]
}

/** Whoever gives a provider's name means its host. */
async function sayMeantHost(invocation: Invocation, target: string): Promise<void> {
  const { bundled, custom } = await asAgent(invocation, (client) => client.providers())
  const [host] = [...custom, ...bundled].find(({ name }) => name === target)?.hosts ?? []
  if (host !== undefined) invocation.output.notice(`${target} is a provider. Did you mean \`broker why ${host}\`?`)
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
