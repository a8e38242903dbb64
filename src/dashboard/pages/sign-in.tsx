import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import type { SignedIn } from '../../schemas/index.ts'
import { ask, DaemonError } from '../daemon.ts'
import { Wrong } from '../parts/dialog.tsx'
import { Field, valuesOf } from '../parts/field.tsx'
import { icons } from '../parts/icons.tsx'

export function SignInPage() {
  const queries = useQueryClient()
  const [kind, setKind] = useState<'login' | 'register'>('login')
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const title = kind === 'login' ? 'Sign in' : 'Make an account'
  useEffect(() => {
    document.title = `${title} · Broker`
  }, [title])
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      const { email, password } = valuesOf(event.currentTarget)
      await ask<SignedIn>('POST', `/api/auth/${kind}`, { email, password })
      await queries.invalidateQueries()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  const wrong = (name: string) =>
    error instanceof DaemonError ? error.details.find(({ path }) => path.endsWith(name))?.message : undefined
  return (
    <main id="content" className="sign-in">
      <p className="brand">
        {icons.key} <span>Broker</span>
      </p>
      <h1 tabIndex={-1}>{title}</h1>
      <p className="soft">
        {isOnTheWay()
          ? 'Then you can confirm the agent that asks to be yours.'
          : 'Broker lets programs use your accounts and keys without ever holding them.'}
      </p>
      <Wrong error={error} />
      <form onSubmit={(event) => void submit(event)} key={kind}>
        <Field label="E-mail" name="email" type="email" autoComplete="username" wrong={wrong('email')} />
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete={kind === 'login' ? 'current-password' : 'new-password'}
          help={kind === 'register' ? 'At least 8 characters. Several words in a row are best.' : undefined}
          wrong={wrong('password')}
        />
        <button type="submit" className="button" disabled={isBusy}>
          {kind === 'login' ? 'Sign in' : 'Make the account'}
        </button>
      </form>
      <p className="soft">
        {kind === 'login' ? 'No account yet? ' : 'You have one? '}
        <button
          type="button"
          className="as-link"
          onClick={() => {
            setError(undefined)
            setKind(kind === 'login' ? 'register' : 'login')
          }}
        >
          {kind === 'login' ? 'Make one' : 'Sign in'}
        </button>
      </p>
      <aside>
        <p>
          <strong>On your own machine</strong> there is no need for one: <code>broker dashboard</code> in a terminal
          signs this browser in.
        </p>
      </aside>
    </main>
  )
}

function isOnTheWay(): boolean {
  return new URLSearchParams(location.search).get('next')?.startsWith('/api/claim/') ?? false
}
