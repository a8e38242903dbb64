import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { DescribedProvider } from '../../schemas/index.ts'
import { ask, DaemonError } from '../daemon.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field, valuesOf } from '../parts/field.tsx'
import { sentenceOf, useNotices } from '../parts/notices.tsx'
import { Answered } from '../parts/page.tsx'
import { useSubmit } from '../parts/submit.ts'
import { useProvider } from '../questions.ts'

interface DefinitionDialogProps {
  /** To look at and change; a new one where absent. */
  readonly provider?: string
  readonly onClose: () => void
}

/** Registers a provider, by a form for the usual kind or as the JSON that it is; changes one as JSON. */
export function DefinitionDialog({ provider, onClose }: DefinitionDialogProps) {
  const definition = useProvider(provider)
  const title = provider === undefined ? 'Register a provider' : `The definition of ${provider}`
  return (
    <Dialog isOpen title={title} onClose={onClose} isWide>
      {provider === undefined ? (
        <Editor onClose={onClose} />
      ) : (
        <Answered question={definition}>{(one) => <Editor known={one} onClose={onClose} />}</Answered>
      )}
    </Dialog>
  )
}

/** Where it came from is the daemon's to say, not a definition's. */
function ownPart({ source: _ours, ...definition }: DescribedProvider): Definition {
  return definition
}

type Mode = 'form' | 'json'

function Editor({ known, onClose }: { readonly known?: DescribedProvider; readonly onClose: () => void }) {
  const queries = useQueryClient()
  const { say } = useNotices()
  const [mode, setMode] = useState<Mode>(known ? 'json' : 'form')
  const [draft, setDraft] = useState<Draft>(() => ({
    values: { prefix: 'Bearer' },
    json: JSON.stringify(known === undefined ? TEMPLATE : ownPart(known), null, 2),
  }))
  const [unread, setUnread] = useState<SyntaxError | undefined>()
  const { error, isBusy, submit, forget } = useSubmit(async (values) => {
    const definition = mode === 'json' ? JSON.parse(values['json'] ?? '') : definitionOf(values, draft.rest)
    const force = known !== undefined
    const { provider, warnings } = await ask('POST /api/providers', { body: { definition, force } })
    await queries.invalidateQueries()
    say([`${provider} is registered`, ...warnings].join('. '))
    onClose()
  })
  const switchTo = (next: Mode, form: HTMLFormElement | null) => {
    if (next === mode || !form) return
    forget()
    try {
      setDraft(next === 'json' ? toJson(draft, valuesOf(form)) : toForm(valuesOf(form)['json'] ?? ''))
      setMode(next)
      setUnread(undefined)
    } catch (notJson) {
      if (!(notJson instanceof SyntaxError)) throw notJson
      setUnread(notJson)
    }
  }
  return (
    <form onSubmit={submit}>
      {known === undefined && (
        <fieldset className="switch" aria-label="Write it as">
          {(['form', 'json'] as const).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={mode === one}
              onClick={({ currentTarget }) => switchTo(one, currentTarget.form)}
            >
              {one === 'form' ? 'a form' : 'JSON'}
            </button>
          ))}
        </fieldset>
      )}
      <Problems error={error ?? unread} mode={mode} />
      {mode === 'form' ? <Fields error={error} values={draft.values} /> : <Json text={draft.json} />}
      <div className="buttons">
        <button type="submit" className="button" disabled={isBusy}>
          {known ? 'Save as your own' : 'Register'}
        </button>
      </div>
      {known && (
        <p className="soft">
          A changed definition stands in front of the one that was shipped. Stored credentials go to no new host before
          you have logged in again.
        </p>
      )}
    </form>
  )
}

/** The fields of the form, and which paths of a definition are theirs. */
const FIELDS = [
  { name: 'display_name', label: 'Name for people', paths: ['display_name'], help: 'Acme Weather' },
  { name: 'name', label: 'Name for commands', paths: ['name'], help: 'Lower case: acme-weather' },
  {
    name: 'hosts',
    label: 'Hosts',
    paths: ['hosts'],
    help: 'Where the credential may go, and nowhere else: api.acme.example, one on each line or after a comma.',
  },
  {
    name: 'header_name',
    label: 'Header that carries the key',
    paths: ['api_key.header_name'],
    help: 'Authorization, unless the service says otherwise.',
    isOptional: true,
  },
  {
    name: 'prefix',
    label: 'Word before the key',
    paths: ['api_key.prefix'],
    help: 'Usually Bearer; nothing where the bare key is sent.',
    isOptional: true,
  },
  {
    name: 'env',
    label: 'Environment variable',
    paths: ['env'],
    help: 'What programs read the key from: ACME_API_KEY',
    isOptional: true,
  },
  { name: 'docs_url', label: 'Where one gets a key', paths: ['docs_url'], help: 'https://…', isOptional: true },
] as const

function Fields({ error, values }: { readonly error: unknown; readonly values: Values }) {
  const details = error instanceof DaemonError ? error.details : []
  return FIELDS.map((field) => {
    const wrong = details.filter(({ path }) => field.paths.some((own) => isWithin(path, own)))
    return (
      <Field
        key={field.name}
        name={field.name}
        label={field.label}
        help={field.help}
        isOptional={'isOptional' in field}
        type={field.name === 'hosts' ? 'area' : 'text'}
        defaultValue={values[field.name] ?? ''}
        wrong={wrong.length > 0 ? wrong.map(({ message }) => message).join('; ') : undefined}
      />
    )
  })
}

/** `body.definition.hosts.0` is within `hosts`. */
function isWithin(path: string, own: string): boolean {
  const bare = path.replace(/^(?:body\.)?definition\./, '')
  return bare === own || bare.startsWith(`${own}.`)
}

function Json({ text }: { readonly text: string }) {
  return (
    <Field
      name="json"
      label="Definition"
      type="code"
      defaultValue={text}
      help={
        <>
          Its schema is at <a href="/schemas/provider.json">/schemas/provider.json</a>.
        </>
      }
    />
  )
}

/** What has no field of its own to stand beside. */
function Problems({ error, mode }: { readonly error: unknown; readonly mode: Mode }) {
  if (error === undefined) return null
  const details = error instanceof DaemonError ? error.details : []
  const rest = details.filter(
    ({ path }) => mode === 'json' || !FIELDS.some(({ paths }) => paths.some((own) => isWithin(path, own))),
  )
  return (
    <div className="alert" role="alert">
      <p>{error instanceof SyntaxError ? `This is not JSON: ${error.message}` : sentenceOf(error)}</p>
      {error instanceof DaemonError && error.hint !== undefined && <small>{error.hint}</small>}
      {rest.length > 0 && (
        <ul>
          {rest.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code>{path.replace(/^(?:body\.)?definition\.?/, '') || 'definition'}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const TEMPLATE = {
  schema_version: 1,
  name: 'acme-weather',
  display_name: 'Acme Weather',
  auth_type: 'api_key',
  flow: 'api_key',
  hosts: ['api.acme.example'],
  env: { ACME_API_KEY: 'credential' },
  api_key: { header_name: 'Authorization', prefix: 'Bearer' },
}

type Values = Readonly<Record<string, string>>
type Definition = Readonly<Record<string, unknown>>

/** What was typed, both ways to write it; neither loses what the other cannot say. */
interface Draft {
  readonly values: Values
  readonly json: string
  /** What the JSON says and the form has no field for. */
  readonly rest?: Definition
}

/** The JSON stays as it was typed where the form was only looked at. */
function toJson(draft: Draft, values: Values): Draft {
  const isSame = draft.rest !== undefined && FIELDS.every(({ name }) => values[name] === draft.values[name])
  if (isSame) return draft
  return { ...draft, values, json: JSON.stringify(definitionOf(values, draft.rest), null, 2) }
}

/** @throws SyntaxError where the JSON is none */
function toForm(json: string): Draft {
  const parsed: unknown = JSON.parse(json)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new SyntaxError('not an object')
  const rest = parsed as Definition
  return { values: valuesIn(rest), json, rest }
}

/** What the form has fields for. */
function valuesIn({ name, display_name, hosts, docs_url, env, api_key }: Definition): Values {
  const key = isObject(api_key) ? api_key : {}
  const [variable] = isObject(env) ? Object.keys(env) : []
  const texts = {
    name,
    display_name,
    hosts: Array.isArray(hosts) ? hosts.join('\n') : undefined,
    docs_url,
    env: variable,
    header_name: key['header_name'],
    prefix: key['prefix'],
  }
  const filled = Object.entries(texts).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return Object.fromEntries(filled.filter(([, value]) => value !== ''))
}

function isObject(value: unknown): value is Definition {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @param rest what the form has no field for */
function definitionOf(values: Values, rest: Definition = BASE): Definition {
  const { name = '', display_name = '', hosts = '', header_name, prefix, env, docs_url } = values
  const { docs_url: _url, env: variables, api_key, ...others } = rest
  const { header_name: _header, prefix: _prefix, ...key } = isObject(api_key) ? api_key : {}
  return {
    ...others,
    name,
    display_name,
    ...(docs_url !== undefined && { docs_url }),
    hosts: hosts.split(/[\s,]+/).filter((host) => host !== ''),
    ...withVariable(isObject(variables) ? variables : {}, env),
    ...withKey(api_key, { ...key, ...(header_name && { header_name }), ...(prefix && { prefix }) }),
  }
}

/** A login of another kind has no such section, and gets none. */
function withKey(before: unknown, key: Definition): { readonly api_key?: Definition } {
  return before === undefined && Object.keys(key).length === 0 ? {} : { api_key: key }
}

/** The form names the first variable alone. */
function withVariable(variables: Definition, name: string | undefined): { readonly env?: Definition } {
  const [first, ...others] = Object.entries(variables)
  const named = name === undefined ? [] : [[name, first?.[1] ?? 'credential'] as const]
  const env = Object.fromEntries([...named, ...others])
  return Object.keys(env).length > 0 ? { env } : {}
}

const BASE: Definition = { schema_version: 1, auth_type: 'api_key', flow: 'api_key', api_key: {} }
