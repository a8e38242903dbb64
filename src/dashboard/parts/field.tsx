import { type ReactNode, useId } from 'react'

interface FieldProps {
  readonly label: string
  readonly name: string
  readonly help?: ReactNode
  readonly wrong?: string | undefined
  readonly type?: 'text' | 'password' | 'email' | 'search' | 'url' | 'area' | 'code'
  readonly isOptional?: boolean
  readonly autoComplete?: string
  readonly defaultValue?: string
  readonly onType?: (text: string) => void
}

/** One input with its label, its help and what is wrong with it. */
export function Field(props: FieldProps) {
  const {
    label,
    name,
    help,
    wrong,
    type = 'text',
    isOptional = false,
    autoComplete = 'off',
    defaultValue,
    onType,
  } = props
  const id = useId()
  const described = [help !== undefined && `${id}-help`, wrong !== undefined && `${id}-wrong`].filter(Boolean).join(' ')
  const common = {
    id,
    name,
    defaultValue,
    onChange: onType && (({ target }: { readonly target: { readonly value: string } }) => onType(target.value)),
    required: !isOptional,
    'aria-invalid': wrong === undefined ? undefined : true,
    'aria-describedby': described === '' ? undefined : described,
    autoComplete,
    autoCapitalize: 'off',
    spellCheck: false,
  } as const
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {isOptional && <span className="optional"> (optional)</span>}
      </label>
      {type === 'area' || type === 'code' ? (
        <textarea {...common} rows={type === 'code' ? 16 : 3} className={type === 'code' ? 'code' : undefined} />
      ) : (
        <input {...common} type={type} />
      )}
      {help !== undefined && (
        <div className="help" id={`${id}-help`}>
          {help}
        </div>
      )}
      {wrong !== undefined && (
        <p className="wrong" id={`${id}-wrong`}>
          {wrong}
        </p>
      )}
    </div>
  )
}

/** What a form holds, by name; empty fields are left out. */
export function valuesOf(form: HTMLFormElement): Readonly<Record<string, string>> {
  const entries = [...new FormData(form)].filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return Object.fromEntries(entries.filter(([, value]) => value !== ''))
}
