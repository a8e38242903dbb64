import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { DueConnection } from '../connections/index.ts'
import type { Provider } from '../providers/index.ts'
import { keepFresh } from './keep-fresh.ts'

it('takes hundreds that are due at a look, sixteen at once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const due: DueConnection[] = Array.from({ length: 300 }, (_, at) => ({
    vaultId: 'v',
    principalId: 'p',
    provider: 'acme',
    connection: `c-${at}`,
    version: 1,
  }))
  const renewed = new Set<string>()
  const running: (() => void)[] = []
  const most = { at: 0 }
  const stop = keepFresh({
    connections: { dueForRefresh: async (limit: number) => due.slice(0, limit) } as never,
    providers: { find: () => ({}) as Provider } as never,
    renewals: {
      renew: async ({ id }) => {
        renewed.add(id.connection)
        await new Promise<void>((resolve) => running.push(resolve))
        throw new Error('one that fails keeps no other from its turn')
      },
    },
    onFailure: (error) => assert.fail(String(error)),
    lookEveryMs: 1,
  })
  t.after(stop)
  t.mock.timers.tick(1)
  while (renewed.size < 200) {
    await new Promise((resolve) => setImmediate(resolve))
    most.at = Math.max(most.at, running.length)
    for (const end of running.splice(0)) end()
  }
  assert.deepEqual([renewed.size, most.at], [200, 16])
})
