import { BrokerError } from '../../protocol/index.ts'

export async function dashboard(): Promise<never> {
  throw new BrokerError('OperationNotAllowedError', 'There is no dashboard yet: it comes with a later version', {
    hint: '`broker connections`, `broker provider list` and `broker log` show what it will.',
  })
}
