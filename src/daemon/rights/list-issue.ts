import type { FoundList } from '../vault/index.ts'

/** Returns what is wrong with a list, as a sentence. */
export function listIssue(kind: Exclude<FoundList['kind'], 'whole'>, whose: string): string {
  if (kind === 'missing') return `The list of what belongs to ${whose} was removed outside of Broker.`
  if (kind === 'changed') return `The list of what belongs to ${whose} was changed outside of Broker.`
  return `The list of what belongs to ${whose} is older than the last one seen here. ${TAKE_AS_IT_IS}`
}

const TAKE_AS_IT_IS = 'If you restored a backup on purpose: broker doctor --accept-restore'
