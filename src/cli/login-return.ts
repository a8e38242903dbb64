import type { AuthSession } from '../schemas/index.ts'
import { askUntilTaken, type FilledIn, type Place } from './login-form.ts'
import { timeLeft } from './login-progress.ts'

/**
 * Waits for the browser to come back. One on another machine ends at an address that does not load there: whoever pastes
 * it here has come back, too.
 */
export function watchOrPaste(place: Place): Promise<FilledIn> {
  const { session, invocation } = place
  let latest: AuthSession = session
  const question = `${session.message ?? 'Waiting for the browser'} (Ctrl-C to cancel). If it ends at an address that does not load, paste that address here`
  return askUntilTaken(
    place,
    async (signal) => {
      const lead = () => `${timeLeft(latest)} > `
      // The code in it is good once, and still nobody's to read.
      const pasted = await invocation.terminal.ask(question, { isSecret: true, isRequired: true, lead, signal })
      return pasted && { callback_url: pasted }
    },
    (now) => {
      latest = now
    },
  )
}
