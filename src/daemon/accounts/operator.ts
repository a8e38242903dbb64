import { BrokerError, type Secret } from '../../protocol/index.ts'
import type { Audit } from '../audit/index.ts'
import type { Store } from '../store/index.ts'
import type { Caller } from './browser-sessions.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** What events name as the identity of whoever has the home's secret. */
export const OPERATOR_IDENTITY = '(operator)'

interface OperatorOptions {
  readonly store: Store
  readonly audit: Audit
  readonly limiter: RateLimiter
  readonly secret: Secret
}

/** Whoever can read the private files of the daemon's home. */
export class Operator {
  readonly #options: OperatorOptions

  constructor(options: OperatorOptions) {
    this.#options = options
  }

  /**
   * The right secret is never kept waiting; wrong ones are counted, and written down as long as they are.
   * @throws BrokerError AuthenticationFailedError, RateLimitedError
   */
  async require(given: Secret | undefined, { source }: Caller): Promise<void> {
    const { secret, limiter, audit } = this.#options
    if (given?.equals(secret)) return
    if (given !== undefined) {
      await limiter.admit([{ kind: 'operator', value: source }])
      const nobody = { identity: OPERATOR_IDENTITY, principalId: '(nobody)' }
      const event = { event: 'account.password_reset', status: 'denied', reason: 'wrong secret' } as const
      await audit.recordAll([{ actor: nobody, event }], 'flushed')
    }
    throw new BrokerError('AuthenticationFailedError', "This takes the operator's secret of the daemon's home", {
      hint: 'Run `broker admin` as the user, and with the BROKER_HOME, that the daemon runs with.',
    })
  }
}
