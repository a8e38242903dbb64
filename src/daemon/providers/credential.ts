import { placeTypeOf } from '../../injection/index.ts'
import { BrokerError, type ErrorDetail, Secret, type SecretInput } from '../../protocol/index.ts'
import type { Field, ProviderDefinition } from '../../schemas/index.ts'
import { clientFields, grantsToClients, hasKey, problemOfClientValue } from './client-credentials.ts'
import { compileKeyPattern } from './key-pattern.ts'
import { problemOfSigningValue, signingFields } from './signing-credential.ts'

/** The part of a definition that says what a key is. */
export type KeySection = 'api_key' | 'signing' | 'client_credentials'

/** Returns what a login by `api_key` is about, unless it says otherwise. */
export function keySection(definition: ProviderDefinition): KeySection {
  if (hasKey(definition)) return 'api_key'
  if (grantsToClients(definition)) return 'client_credentials'
  return definition.signing === undefined ? 'api_key' : 'signing'
}

/** Returns whether the definition says anything of such a login. */
export function hasSection(definition: ProviderDefinition, section: KeySection): boolean {
  return {
    api_key: hasKey(definition),
    signing: definition.signing !== undefined,
    client_credentials: grantsToClients(definition),
  }[section]
}

/** The option of `broker login` that chooses this section, with a space before it; nothing where none has to be named. */
export function loginOption(definition: ProviderDefinition, section: KeySection): string {
  const isUsual = keySection(definition) === section
  if (isUsual && definition.flow === 'api_key') return ''
  if (section === 'signing') return ' --signing-key'
  return section === 'api_key' || isUsual ? ' --flow api_key' : ' --client-credentials'
}

/** Returns what a login asks for. In the section `api_key` one of them is always the required secret of that name. */
export function credentialFields(definition: ProviderDefinition, section = keySection(definition)): readonly Field[] {
  if (section === 'client_credentials') return clientFields(definition)
  if (section === 'signing') return definition.signing === undefined ? [] : signingFields(definition.signing)
  return definition.api_key?.fields ?? [keyField(definition)]
}

function keyField({ display_name, api_key }: ProviderDefinition): Field {
  return {
    name: 'api_key',
    label: `${display_name} API key`.slice(0, 80),
    secret: true,
    required: true,
    ...(api_key?.pattern !== undefined && { pattern: api_key.pattern }),
  }
}

const NOTHING = new Secret('')

/**
 * Reads what a person typed or piped, by field name, into a credential that can be sent. Nothing is trimmed or mended.
 * @throws {BrokerError} InvalidRequestError naming each field that will not do (`input.api_key`), never its value
 */
export function parseCredential(
  definition: ProviderDefinition,
  input: SecretInput,
  section = keySection(definition),
): Readonly<Record<string, Secret>> {
  const fields = credentialFields(definition, section)
  const entered = Object.entries(input).filter(([, value]) => !value.equals(NOTHING))
  const given = new Map(entered.map(([name, value]) => [name, value.reveal()]))
  const details = [
    ...unknownFields(fields, given),
    ...fields.flatMap((field) => problemsOf(definition, field, given, section)),
  ]
  if (details.length > 0)
    throw new BrokerError('InvalidRequestError', `Cannot use this as the credential of ${definition.display_name}`, {
      provider: definition.name,
      details,
      hint: details.map(({ path, message }) => `${path.slice('input.'.length)} ${message}`).join('; '),
    })
  return Object.fromEntries(entered)
}

// A name is repeated only where it looks like one: somebody may have put the secret in its place.
const NAME = /^[a-z][a-z_]{0,31}$/

function unknownFields(fields: readonly Field[], given: ReadonlyMap<string, string>): readonly ErrorDetail[] {
  return [...given.keys()]
    .filter((name) => !fields.some((field) => field.name === name))
    .map((name) => ({ path: `input.${NAME.test(name) ? name : '?'}`, message: 'is not a field of this provider' }))
}

function problemsOf(
  definition: ProviderDefinition,
  field: Field,
  given: ReadonlyMap<string, string>,
  section: KeySection,
): readonly ErrorDetail[] {
  const value = given.get(field.name)
  const path = `input.${field.name}`
  if (value === undefined) return field.required ? [{ path, message: 'is required' }] : []
  // A pattern knows the forms of today: a key of another one is taken, and that is said.
  const shape = field.secret ? problemOfSpace(definition, field, value) : problemOfShape(definition, field, value)
  const message = problemOfValue[section](definition, field, value) ?? shape
  return message === undefined ? [] : [{ path, message }]
}

type ProblemOfValue = (definition: ProviderDefinition, field: Field, value: string) => string | undefined

const problemOfValue: Readonly<Record<KeySection, ProblemOfValue>> = {
  api_key: (definition, field, value) =>
    problemOfCharacters(definition, value) ?? problemOfPlaces(definition, field, value),
  signing: (_definition, field, value) => problemOfSigningValue(field, value),
  client_credentials: problemOfClientValue,
}

/** Returns what no header or query can carry unchanged. Base64 carries all characters that one can type. */
function problemOfCharacters(definition: ProviderDefinition, value: string): string | undefined {
  if (value.trim() !== value) return 'must not begin or end with white space'
  if (/\p{Cc}/u.test(value)) return 'must be one line without control characters'
  const isEncoded = definition.api_key?.encoding === 'basic' && definition.injections === undefined
  if (!isEncoded && /[^ -~]/.test(value)) return 'must be plain ASCII'
  return undefined
}

/** Returns what cannot stand in one of the further places, or would be read as something else there. */
function problemOfPlaces({ injections = [] }: ProviderDefinition, { name }: Field, value: string): string | undefined {
  for (const entry of injections) {
    const type = placeTypeOf(entry)
    const isThere = type.templatesOf(entry).some(({ text }) => text.includes(`{${name}}`))
    if (isThere && !type.isSendable(type.nameOf(entry), value)) return type.rule
  }
  return undefined
}

function patternOf({ api_key }: ProviderDefinition, field: Field): string | undefined {
  return field.pattern ?? (field.name === 'api_key' ? api_key?.pattern : undefined)
}

/** No maker of keys whose form is known puts white space into them. */
function problemOfSpace(definition: ProviderDefinition, field: Field, value: string): string | undefined {
  const isOdd = patternOf(definition, field) !== undefined && /\s/.test(value)
  return isOdd ? 'must not have white space in it: was it pasted twice?' : undefined
}

function problemOfShape(definition: ProviderDefinition, field: Field, value: string): string | undefined {
  const pattern = patternOf(definition, field)
  if (pattern === undefined || compileKeyPattern(pattern)(value)) return undefined
  const { example } = definition.api_key ?? {}
  return field.name === 'api_key' && example !== undefined
    ? `does not look like one: it should look like ${example}`
    : `does not look like a ${field.label}`
}

/** Returns what is odd about a credential that can be used all the same: sentences without its values. */
export function oddShapes(
  definition: ProviderDefinition,
  input: SecretInput,
  section = keySection(definition),
): readonly string[] {
  return credentialFields(definition, section).flatMap((field) => {
    const value = input[field.name]?.reveal() ?? ''
    const problem = field.secret && value !== '' ? problemOfShape(definition, field, value) : undefined
    return problem === undefined ? [] : [`The ${field.label} ${problem}; it is stored all the same.`]
  })
}
