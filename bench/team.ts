import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { DaemonClient } from '../src/client/index.ts'
import { clientOf } from './daemon-client.ts'
import { homeEnvironment, runBroker } from './world.ts'

/** One daemon of a team, and the environment of its home. */
export interface Member {
  readonly env: NodeJS.ProcessEnv
  readonly client: DaemonClient
}

/** Daemons with homes of their own, which share a store and its key; the first one's identity signs to all of them. */
export async function startTeam(
  folder: string,
  databaseUrl: string,
  size: number,
  after: (task: () => unknown) => void,
): Promise<readonly Member[]> {
  const shared = {
    BROKER_DATABASE_URL: databaseUrl,
    BROKER_ENCRYPTION_MODE: 'env',
    BROKER_MASTER_KEY: randomBytes(32).toString('base64'),
  }
  const members: Member[] = []
  let first: NodeJS.ProcessEnv | undefined
  for (let number = 1; number <= size; number++) {
    const env = { ...(await homeEnvironment(join(folder, `team-${number}`))), ...shared }
    await runBroker(env, first ? ['daemon', 'start'] : ['onboard', '--json'])
    first ??= env
    const client = clientOf(env, first)
    members.push({ env, client })
    after(async () => {
      client.close()
      await runBroker(env, ['daemon', 'stop'])
    })
  }
  return members
}
