import type { SecretInput } from '../../protocol/index.ts'
import { credentialFields, oddShapes, parseCredential } from '../providers/index.ts'
import type { LoginRequest } from './login-request.ts'
import type { FormStep, Granted } from './step.ts'

/** One form, and what is entered in it is the credential. */
export function beginKeyLogin({ provider: { definition }, section }: LoginRequest): FormStep {
  return { kind: 'form', asksFor: 'credential', fields: credentialFields(definition, section) }
}

/** @throws BrokerError InvalidRequestError */
export function submitKey({ provider: { definition }, baseUrl, section }: LoginRequest, input: SecretInput): Granted {
  return {
    kind: 'granted',
    connection: {
      credential: { kind: section, fields: parseCredential(definition, input, section) },
      scopes: [],
      ...(baseUrl !== undefined && { baseUrl }),
    },
    warnings: oddShapes(definition, input, section),
  }
}
