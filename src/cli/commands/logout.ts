import type { Invocation } from '../invocation.ts'
import { connectionNamed, providerNamed } from '../named.ts'
import { asAgent } from '../session.ts'

export async function logout(invocation: Invocation, provider: string, connection: string): Promise<void> {
  const { output } = invocation
  const answer = await asAgent(invocation, (client) =>
    client.logout(providerNamed(provider), connectionNamed(connection)),
  )
  output.result(answer, () => output.done(`Removed connection "${answer.connection}" of ${answer.provider}`))
}
