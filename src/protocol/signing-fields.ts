/** Kinds of key that sign and are never sent: what goes out is made with them, for each request or for an hour. */
export const SIGNING_TYPES = ['aws_sigv4', 'google_service_account', 'github_app'] as const
export type SigningType = (typeof SIGNING_TYPES)[number]

export interface SigningField {
  readonly name: string
  readonly label: string
  readonly secret: boolean
  readonly required: boolean
  readonly help?: string
  readonly pattern?: string
  /** The text of a file, of more than one line. */
  readonly multiline?: true
}

/** What a login with each kind asks for. A stored credential with these fields is one of that kind. */
export const SIGNING_FIELDS: Readonly<Record<SigningType, readonly SigningField[]>> = {
  aws_sigv4: [
    {
      name: 'access_key_id',
      label: 'Access key id',
      secret: false,
      required: true,
      pattern: '[A-Za-z0-9_-]{1,128}',
    },
    { name: 'secret_access_key', label: 'Secret access key', secret: true, required: true },
    {
      name: 'session_token',
      label: 'Session token',
      secret: true,
      required: false,
      help: 'Only with temporary keys, which end by themselves.',
    },
  ],
  google_service_account: [
    {
      name: 'service_account',
      label: 'Key file of the service account (JSON)',
      secret: true,
      required: true,
      multiline: true,
    },
    {
      name: 'subject',
      label: 'User to act for',
      secret: false,
      required: false,
      help: 'Only with domain-wide delegation: an email address.',
      pattern: '[!-~]{1,254}',
    },
  ],
  github_app: [
    {
      name: 'app_id',
      label: 'App id or client id',
      secret: false,
      required: true,
      pattern: '[A-Za-z0-9.]{1,40}',
    },
    { name: 'installation_id', label: 'Installation id', secret: false, required: true, pattern: '[0-9]{1,20}' },
    {
      name: 'private_key',
      label: 'Private key of the app (PEM)',
      secret: true,
      required: true,
      multiline: true,
    },
  ],
}
