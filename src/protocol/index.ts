/**
 * The words everyone shares: the secret type, the error table, names and closed lists of values.
 * Free of dependencies, so that the command line starts fast. The shapes of requests and answers are in `schemas`.
 * Must never import a room of ours, nor do anything: no I/O, no state.
 */

export type { Actor, BrowserActor, IdentityActor, RunGrant } from './actor.ts'
export { attentionLine } from './attention-line.ts'
export {
  BrokerError,
  type BrokerErrorOptions,
  ERROR_NAMES,
  type ErrorBody,
  type ErrorDetail,
  type ErrorName,
  exitCodeOf,
  httpStatusOf,
  isErrorName,
} from './errors.ts'
export { withoutOptionalSpace } from './field-value.ts'
export {
  CHANNEL_PROTOCOL,
  encodeFrame,
  type Frame,
  type FrameKind,
  FrameReader,
  FrameWriter,
  type Refused,
} from './frames.ts'
export {
  CONNECTION_NAME_PATTERN,
  DEFAULT_CONNECTION,
  IDENTITY_HANDLE_PATTERN,
  isConnectionName,
  isIdentityHandle,
  isProviderName,
  PROVIDER_NAME_PATTERN,
} from './names.ts'
export { nearestWord } from './nearest-word.ts'
export { coversPath, isAtOrBelow, mayLeavePrefix } from './path-prefix.ts'
export { Secret, type SecretInput, secretInput } from './secret.ts'
export { SIGNING_FIELDS, SIGNING_TYPES, type SigningField, type SigningType } from './signing-fields.ts'
export { parseStrictJson, StrictJsonError } from './strict-json.ts'
export { visibleText } from './visible-text.ts'
export {
  AUDIT_EVENTS,
  AUDIT_STATUSES,
  AUTH_TYPES,
  type AuditEventName,
  type AuditStatus,
  type AuthType,
  DEFAULT_PLACEHOLDER,
  DEFAULT_PORT,
  ENCRYPTION_MODES,
  ENCRYPTION_SOURCES,
  type EncryptionMode,
  type EncryptionSource,
  EXPORT_FORMATS,
  type ExportFormat,
  FLOWS,
  type FlowName,
  GRANTS,
  INNER_RUN_PATH,
  PROXY_EVENTS,
  QUIRKS,
  type QuirkName,
  ROLES,
  type Role,
  RUN_DESCRIPTION_PATH,
} from './words.ts'
