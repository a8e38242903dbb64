import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react'
import { DaemonError } from '../daemon.ts'
import { icons } from './icons.tsx'
import { Said } from './said.tsx'

interface Notice {
  readonly id: number
  readonly tone: 'good' | 'bad'
  readonly text: string
  readonly hint: string | undefined
}

interface Notices {
  readonly say: (text: string) => void
  readonly fail: (error: unknown) => void
}

const NoticesContext = createContext<Notices>({ say: () => undefined, fail: () => undefined })

const SHOWN_MS = 6_000

/** What came of what was done, in a corner; read out where it appears. What failed stays until it is put away. */
export function NoticesProvider({ children }: { readonly children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([])
  const drop = useCallback((id: number) => setNotices((all) => all.filter((notice) => notice.id !== id)), [])
  const add = useCallback(
    (tone: Notice['tone'], text: string, hint?: string) => {
      const id = Math.random()
      setNotices((all) => [...all.slice(-3), { id, tone, text, hint }])
      if (tone === 'good') setTimeout(drop, SHOWN_MS, id)
    },
    [drop],
  )
  const value = useMemo<Notices>(
    () => ({
      say: (text) => add('good', text),
      fail: (error) => add('bad', sentenceOf(error), hintOf(error)),
    }),
    [add],
  )
  return (
    <NoticesContext value={value}>
      {children}
      <section className="notices" aria-label="Notices" aria-live="polite">
        {notices.map(({ id, tone, text, hint }) => (
          <div key={id} className={`notice ${tone}`}>
            {tone === 'good' ? icons.good : icons.bad}
            <p>
              <Said>{text}</Said>
              {hint !== undefined && (
                <small>
                  <Said>{hint}</Said>
                </small>
              )}
            </p>
            <button type="button" className="plain square" aria-label="Put away" onClick={() => drop(id)}>
              {icons.close}
            </button>
          </div>
        ))}
      </section>
    </NoticesContext>
  )
}

export function useNotices(): Notices {
  return useContext(NoticesContext)
}

export function sentenceOf(error: unknown): string {
  if (error instanceof DaemonError) return error.message
  return 'The daemon does not answer. The page goes on by itself once it does.'
}

/** Commands whose work a button of the dashboard does. */
const HAS_BUTTON = /\bbroker (?:connections|dashboard|login|logout|provider|revoke)\b/

/** What the daemon advises. Its advice is for a terminal too: a command for what is done here by a button is left out. */
export function hintOf(error: unknown): string | undefined {
  if (!(error instanceof DaemonError) || error.hint === undefined) return undefined
  return HAS_BUTTON.test(error.hint) ? undefined : error.hint
}

/** The same for a sentence that ends in the command that mends it. */
export function withoutCommand(sentence: string): string {
  return HAS_BUTTON.test(sentence) ? sentence.replace(/ (?:Mend it|See|Run)[ :].*$/s, '') : sentence
}
