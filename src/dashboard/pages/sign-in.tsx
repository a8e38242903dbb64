import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { isLoopback } from '../address.ts'
import { ask } from '../daemon.ts'
import { Wrong } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { icons } from '../parts/icons.tsx'
import { detailOf, useSubmit } from '../parts/submit.ts'

export function SignInPage() {
  const queries = useQueryClient()
  const [kind, setKind] = useState<'login' | 'register'>('login')
  const isOpen = isRegistrationOpen()
  const title = kind === 'login' ? 'Sign in' : 'Make an account'
  useEffect(() => {
    document.title = `${title} · Broker`
  }, [title])
  const { error, isBusy, submit, forget } = useSubmit(async ({ email, password }) => {
    await ask(`POST /api/auth/${kind}`, { body: { email: email ?? '', password: password ?? '' } })
    await queries.invalidateQueries()
  })
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
      <form onSubmit={submit} key={kind}>
        <Field label="E-mail" name="email" type="email" autoComplete="username" wrong={detailOf(error, 'email')} />
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete={kind === 'login' ? 'current-password' : 'new-password'}
          help={kind === 'register' ? 'At least 8 characters. Several words in a row are best.' : undefined}
          wrong={detailOf(error, 'password')}
        />
        <button type="submit" className="button" disabled={isBusy}>
          {kind === 'login' ? 'Sign in' : 'Make the account'}
        </button>
      </form>
      {isOpen ? (
        <p className="soft">
          {kind === 'login' ? 'No account yet? ' : 'You have one? '}
          <button
            type="button"
            className="as-link"
            onClick={() => {
              forget()
              setKind(kind === 'login' ? 'register' : 'login')
            }}
          >
            {kind === 'login' ? 'Make one' : 'Sign in'}
          </button>
        </p>
      ) : (
        <p className="soft">New accounts are closed here. Whoever runs this daemon can open them.</p>
      )}
      {isLoopback() && (
        <aside>
          <p>
            <strong>On your own machine</strong> there is no need for one: <code>broker dashboard</code> in a terminal
            signs this browser in.
          </p>
        </aside>
      )}
    </main>
  )
}

/** The daemon writes it into the page. */
function isRegistrationOpen(): boolean {
  return document.querySelector<HTMLMetaElement>('meta[name="registration"]')?.content !== 'closed'
}

function isOnTheWay(): boolean {
  return new URLSearchParams(location.search).get('next')?.startsWith('/api/claim/') ?? false
}
