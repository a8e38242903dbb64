import { useQueryClient } from '@tanstack/react-query'
import type { BrowserSession, Me, Readiness, RequestOf } from '../../schemas/index.ts'
import { goTo } from '../address.ts'
import { ask, forgetCsrfToken } from '../daemon.ts'
import { Badge } from '../parts/badge.tsx'
import { Wrong } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { useNotices, withoutCommand } from '../parts/notices.tsx'
import { Answered, Page } from '../parts/page.tsx'
import { Said } from '../parts/said.tsx'
import { detailOf, useSubmit } from '../parts/submit.ts'
import { When } from '../parts/when.tsx'
import { useAct, useBrowserSessions, useHealth, useReadiness } from '../questions.ts'

const CHECKS: Readonly<Record<keyof Readiness['checks'], string>> = {
  store: 'The database opens and answers',
  vault: 'The vault seals and opens',
  integrity: 'Nothing in the vault was swapped, removed or put back',
  identity: 'Whoever asks is known',
  providers: 'Every provider definition can be read',
  connections: 'Every connection can be read',
  spec_version: 'The home is of this version',
  redis: 'Redis answers, and takes what it is given',
}

export function SettingsPage({ me }: { readonly me: Me }) {
  const queries = useQueryClient()
  const { fail } = useNotices()
  const leave = async () => {
    try {
      await ask('POST /api/logout')
    } catch (error) {
      return fail(error)
    }
    forgetCsrfToken()
    goTo('/', 'replace')
    queries.setQueryData(['me'], null)
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'me' })
  }
  return (
    <Page
      title="Settings"
      about={me.email === undefined ? 'You are the owner of this machine.' : `Signed in as ${me.email}.`}
      actions={
        <button type="button" className="button quiet" onClick={() => void leave()}>
          Sign out
        </button>
      }
    >
      <Health />
      <Sessions />
      {me.email !== undefined && <Password />}
    </Page>
  )
}

function Health() {
  const health = useHealth()
  const readiness = useReadiness()
  return (
    <section className="card" aria-labelledby="health">
      <h2 id="health">This daemon</h2>
      <Answered question={health}>
        {({ version, encryption_backend, effective_encryption_source }) => (
          <dl>
            <dt>Version</dt>
            <dd>{version}</dd>
            <dt>Master key</dt>
            <dd>
              {encryption_backend ?? 'not opened'}
              {effective_encryption_source !== undefined && (
                <small className="soft">{effective_encryption_source}</small>
              )}
            </dd>
          </dl>
        )}
      </Answered>
      <Answered question={readiness}>
        {({ checks, issues = [], warnings = [] }) => (
          <>
            <ul className="checks">
              {Object.entries(checks).map(([name, state]) => (
                <li key={name}>
                  <Badge tone={state === 'ok' ? 'good' : 'bad'}>{state === 'ok' ? 'OK' : 'Failed'}</Badge>
                  {CHECKS[name as keyof Readiness['checks']] ?? name}
                </li>
              ))}
            </ul>
            {issues.map((text) => (
              <p key={text} className="alert">
                <Said>{withoutCommand(text)}</Said>
              </p>
            ))}
            {warnings.map((text) => (
              <p key={text} className="alert warn">
                <Said>{withoutCommand(text)}</Said>
              </p>
            ))}
          </>
        )}
      </Answered>
    </section>
  )
}

function Sessions() {
  const sessions = useBrowserSessions()
  const { say, fail } = useNotices()
  const end = useAct(({ id }: BrowserSession) => ask('DELETE /api/browser-sessions/{id}', { params: { id } }))
  return (
    <section className="card" aria-labelledby="sessions">
      <h2 id="sessions">Browsers that are signed in</h2>
      <Answered question={sessions}>
        {(all) => (
          <ul className="sessions">
            {all.map((one) => (
              <li key={one.id}>
                <span>
                  <span className="strong">
                    <Said>{one.browser}</Said>
                  </span>{' '}
                  {one.is_current && <span className="tag">this one</span>}
                  <small className="soft">
                    signed in <When at={one.created_at} />, seen <When at={one.last_seen_at} />
                  </small>
                </span>
                {!one.is_current && (
                  <button
                    type="button"
                    className="button quiet small"
                    onClick={() =>
                      end.mutate(one, { onSuccess: () => say(`${one.browser} is signed out`), onError: fail })
                    }
                  >
                    Sign it out
                  </button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Answered>
    </section>
  )
}

function Password() {
  const { say } = useNotices()
  const change = useAct((body: RequestOf<'POST /api/auth/password'>['body']) =>
    ask('POST /api/auth/password', { body }),
  )
  const { error, isBusy, submit } = useSubmit(async ({ current = '', password = '' }, form) => {
    await change.mutateAsync({ current, password })
    form.reset()
    say('The password is changed; your other browsers are signed out')
  })
  return (
    <section className="card" aria-labelledby="password">
      <h2 id="password">Password</h2>
      <Wrong error={error} />
      <form onSubmit={submit} className="narrow">
        <Field
          label="Current password"
          name="current"
          type="password"
          autoComplete="current-password"
          wrong={detailOf(error, 'current')}
        />
        <Field
          label="New password"
          name="password"
          type="password"
          autoComplete="new-password"
          wrong={detailOf(error, 'password')}
        />
        <div className="buttons">
          <button type="submit" className="button quiet" disabled={isBusy}>
            Change the password
          </button>
        </div>
      </form>
    </section>
  )
}
