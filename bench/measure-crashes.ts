import { crashRefreshes } from '../test/refresh-crashes.ts'
import { below, type Finding } from './report.ts'

const CRASHES = 200

/** The daemon killed at random moments of a refresh, against a provider that rotates refresh tokens. */
export async function measureCrashes(): Promise<readonly Finding[]> {
  const tasks: (() => unknown)[] = []
  try {
    const { kept, interrupted, lost } = await crashRefreshes(
      { after: (task) => tasks.push(task) },
      CRASHES,
      (report) => {
        const done = report.kept + report.interrupted + report.lost
        if (done % 20 === 0) process.stderr.write(`  ${done} of ${CRASHES} crashes\n`)
      },
    )
    return [
      {
        measure: `refresh, killed ${CRASHES} times: tokens lost that the provider honours`,
        target: below(1, 'tokens', lost),
        raw: { lost, 'went on': kept, 'rotation interrupted': interrupted },
      },
    ]
  } finally {
    for (const task of tasks.toReversed()) await task()
  }
}
