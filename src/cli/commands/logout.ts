import type { Invocation } from '../invocation.ts'
import { connectionNamed, providerNamed } from '../named.ts'
import { asAgent } from '../session.ts'

export async function logout(invocation: Invocation, provider: string, connection: string): Promise<void> {
  const { output } = invocation
  const answer = await asAgent(invocation, (client) =>
    client.logout(providerNamed(provider), connectionNamed(connection)),
  )
  const { left = [], new_default: newDefault } = answer
  output.result(answer, () => {
    output.done(`Removed connection "${answer.connection}" of ${answer.provider}`)
    if (newDefault !== undefined) output.note(`"${newDefault}" is the default now.`)
  })
  if (left.length > 0) {
    output.warn(
      `None of the connections left (${left.join(', ')}) is the default: broker connections set-default ${answer.provider} <connection>`,
    )
  }
}
