import { credentialFields, oddShapes, parseCredential } from '../providers/index.ts'
import type { FormStep, LoginRequest } from './step.ts'

/** One form, and what was entered in it is the credential. */
export function beginKeyLogin({ provider: { definition }, baseUrl, section }: LoginRequest): FormStep {
  return {
    kind: 'form',
    asksFor: 'credential',
    fields: credentialFields(definition, section),
    submit: async (input) => ({
      kind: 'granted',
      connection: {
        credential: parseCredential(definition, input, section),
        scopes: [],
        ...(baseUrl !== undefined && { baseUrl }),
      },
      warnings: oddShapes(definition, input, section),
      discard: async () => undefined,
    }),
  }
}
