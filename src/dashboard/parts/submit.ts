import { type FormEvent, useState } from 'react'
import { DaemonError } from '../daemon.ts'
import { valuesOf } from './field.tsx'

/** What a form does with its values, whether it is at it, and why it did not work. */
export function useSubmit(act: (values: Readonly<Record<string, string>>, form: HTMLFormElement) => Promise<void>) {
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    setBusy(true)
    setError(undefined)
    act(valuesOf(form), form)
      .catch(setError)
      .finally(() => setBusy(false))
  }
  return { error, isBusy, submit, forget: () => setError(undefined) }
}

/** What is wrong with one field. */
export function detailOf(error: unknown, field: string): string | undefined {
  if (!(error instanceof DaemonError)) return undefined
  return error.details.find(({ path }) => path === field || path.endsWith(`.${field}`))?.message
}
