/**
 * What stands where a key should be and is none: placeholders of examples, and references to where the key is kept. Judged
 * by shapes that are written by people or by tools, never by how random a value looks.
 */
import type { Secret } from '../protocol/index.ts'

export interface NoKey {
  readonly reason: 'placeholder' | 'reference'
  /** After "it". */
  readonly why: string
}

/** Why a value is no key; undefined for one that may be. */
export function whyNoKey(value: Secret): NoKey | undefined {
  const text = value.reveal().trim()
  if (REFERENCES.some((pattern) => pattern.test(text))) return REFERENCE
  if (TEMPLATES.some((pattern) => pattern.test(text))) return TEMPLATE
  return isPlaceholder(text) ? PLACEHOLDER : undefined
}

const REFERENCE: NoKey = { reason: 'reference', why: 'names a place where the key is kept, and is none itself' }
const TEMPLATE: NoKey = { reason: 'placeholder', why: 'is a template that something else would have to fill in' }
const PLACEHOLDER: NoKey = { reason: 'placeholder', why: 'is a placeholder' }

const REFERENCES: readonly RegExp[] = [
  // 1Password, Vault, Bitwarden, Dashlane, KeePassXC, vals, chezmoi, secret managers of clouds, files.
  /^(?:op|vault|hashivault|bws|bw|bitwarden|dl|dashlane|keepassxc|keyring|keychain|pass|doppler|infisical|phase|akeyless|conjur|sops|ref\+[a-z0-9]+|secret|secrets|secretref|file|env|aws-?[a-z]*|awssm|awsssm|ssm|secretsmanager|gcp-?[a-z]*|gcpsm|gsm|azure-?[a-z]*|akv|azurekeyvault|keyvault|berglas|sm):\/\/\S/i,
  /^arn:aws[a-z-]*:[a-z0-9-]+:/i,
  /^@Microsoft\.KeyVault\(/i,
  /^projects\/[^/]+\/secrets\//,
  /^(?:ssm|secretsmanager|aws-secretsmanager|vault|env|file|secret|awskms|gcpkms|keyvaultref):[/\w]/i,
  /^(?:\/run\/secrets|\/var\/run\/secrets|\/mnt\/secrets|~)\/\S/,
  // Sealed by sops, dotenvx, Ansible, Spring, git-crypt.
  /^ENC\[/,
  /^encrypted:/i,
  /^\$ANSIBLE_VAULT;/,
  /^\{cipher\}/i,
]

const TEMPLATES: readonly RegExp[] = [
  /^<[^<>]*>$/,
  /\{\{.*\}\}/,
  /^\[[^[\]]*\]$/,
  /^\{[^{}"]*\}$/,
  /\$\{\{?.*\}/,
  /^\$\(.*\)$/,
  /^\$[A-Z_][A-Z0-9_]*$/,
  /^%[A-Za-z_][A-Za-z0-9_]*%$/,
  /^#\{.*\}#?$/,
  /^__[A-Za-z0-9_]+__$/,
  /^@@?[A-Za-z0-9_.]+@@?$/,
  /<(?:your|insert|replace|enter|paste|my|the)[^<>]*>/i,
]

/** In words that people write; whole values, in lower case and without what separates words. */
const WORDS = new Set(
  `changeme changethis changeit change me replaceme replacethis fixme todo tbd tba null nil none undefined nan void empty
  blank unset notset na nokey nosecret true false yes no on off enabled disabled default test testing tests tester dev
  development local localhost prod production staging secret secrets mysecret supersecret topsecret verysecret password
  passwd pass pw token key apikey accesskey secretkey privatekey authtoken accesstoken apitoken credential credentials
  example sample demo dummy fake mock stub foo bar baz qux foobar foobarbaz placeholder redacted removed hidden masked
  censored omitted string str value string123 text something anything whatever abc abcd abcdef abc123 xyz asdf asdfasdf
  qwerty qwertz letmein admin root user username guest`
    .split(/\s+/)
    .filter(Boolean),
)

/** One of them in a value that is all words says that somebody is to put a key there. */
const MARKERS =
  /^(?:your|yours|replace|replaceme|change|changeme|changethis|insert|enter|paste|put|add|fill|set|example|examples|sample|dummy|fake|mock|placeholder|redacted|todo|fixme|here|goes|xxx+)$/
/** Beside `my`, these make a placeholder, too. */
const GENERIC =
  /^(?:my|the|an?|api|secret|access|private|public|auth|key|token|password|client|app|account|id|value|test|live|sk|pk|rk)$/

/** Keys that their makers print in their own documentation. */
const PUBLISHED: ReadonlySet<string> = new Set([
  'AKIAIOSFODNN7EXAMPLE',
  'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  'sk_test_4eC39HqLyjWDarjtT1zdp7dc',
  'sk_test_BQokikJOvBiI2HlWgH4olfQ2',
  'pk_test_TYooMQauvdEDq54NiTphI7jx',
])

function isPlaceholder(text: string): boolean {
  const bare = text.replace(/^(["'`])(.*)\1$/, '$2')
  if (bare === '' || PUBLISHED.has(bare) || /(?:^|[^A-Za-z])EXAMPLE(?:KEY)?$|EXAMPLEKEY$/.test(bare)) return true
  if (WORDS.has(bare.toLowerCase().replace(/[^a-z0-9]/g, ''))) return true
  return isFilling(withoutPrefix(bare)) || isFilling(bare) || isOfWords(bare)
}

/** `sk_live_` of `sk_live_xxxx`: short words, as makers of keys put them in front. */
function withoutPrefix(text: string): string {
  return text.replace(/^(?:[A-Za-z][A-Za-z0-9]{0,11}[-_])+(?=.)/, '')
}

/** One character over and over, dots, or characters in the order of the alphabet or of numbers. */
function isFilling(text: string): boolean {
  if (/^(?:[xX*.#?…•_-]{2,}|…)$/.test(text) || /^(.)\1{3,}$/.test(text)) return true
  if (/^[0-]+$/.test(text) && text.includes('0')) return true
  const plain = text.toLowerCase()
  if (/^x{4,}|x{6,}$/.test(plain) && /^[a-z0-9]{0,4}x+[a-z0-9]{0,4}$/.test(plain)) return true
  if (/^[A-Za-z0-9]{1,8}(?:\.{3,}|…|\*{3,})[A-Za-z0-9]{0,8}$/.test(text)) return true
  return plain.length >= 4 && SEQUENCES.some((sequence) => sequence.includes(plain))
}

const DIGITS = '01234567890'.repeat(4).concat(' ', '1234567890'.repeat(6), ' ', '9876543210'.repeat(3))
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const SEQUENCES = [
  DIGITS,
  LETTERS,
  `${LETTERS}0123456789`,
  `${LETTERS}1234567890`,
  `0123456789${LETTERS}`,
  '0123456789abcdef'.repeat(4),
]

function isOfWords(text: string): boolean {
  const words = text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
  if (words.length === 0 || !words.every((word) => /^(?:[a-z]{1,14}|[a-z]{0,3}\d{1,3}|[a-z]{1,6}\d{0,3})$/.test(word)))
    return false
  if (words.some((word) => MARKERS.test(word) || /^your?[a-z]+(?:key|token|secret)$/.test(word))) return true
  return words.length > 1 && words.some((word) => word === 'my') && words.every((word) => GENERIC.test(word))
}
