import type { CommanderError } from 'commander'
import { BrokerError, nearestWord } from '../protocol/index.ts'

const SECRET_WORD = /key|secret|token|password|credential/i

/** Returns what was typed wrongly, without repeating a value: it may be a secret that was typed where none belongs. */
export function usageError({ message, code }: CommanderError): BrokerError {
  const text = withoutValue(message.replace(/^error: /, ''))
  return new BrokerError('InvalidRequestError', text.charAt(0).toUpperCase() + text.slice(1), {
    hint: meantChoice(message) ?? hintFor(text, code),
  })
}

function withoutValue(message: string): string {
  return message
    .replace(/(unknown option '[^'=]*)=[^']*'/s, "$1'")
    .replace(/(unknown option) '(?!--?[a-z][a-z-]{0,24}')[^']*'/s, '$1')
    .replace(/(command-argument value) '(?![a-z][a-z-]{0,19}')[^']*'/s, '$1')
    .replace(/(too many arguments.*Expected \d+ arguments? but got \d+).*/is, '$1')
    .replace(/argument '[^']*' is invalid/s, 'has a value that is invalid')
    .replace(/\s*\n\s*/g, ' ')
}

/** The choice that is nearest to a value that is none of them. The value itself may be anything: it is not repeated. */
function meantChoice(message: string): string | undefined {
  const [, value, choices] =
    /(?:argument|command-argument value) '([^']{1,40})' is invalid.*Allowed choices are (.*?)\.?$/s.exec(message) ?? []
  const words = choices?.split(', ') ?? []
  const meant = value && (nearestWord(value, words) ?? words.find((word) => bare(word) === bare(value)))
  return meant ? `Did you mean ${meant}?` : undefined
}

function bare(word: string): string {
  return word.toLowerCase().replace(/[^a-z0-9]/g, '')
}

function hintFor(text: string, code: string): string {
  const looksLikeSecret = code === 'commander.unknownOption' && SECRET_WORD.test(text)
  if (looksLikeSecret || /too many arguments for 'login'/.test(text)) {
    return 'Secrets are never taken as arguments: type them at the prompt, pipe them to standard input, or use --browser.'
  }
  return 'See `broker --help`, or `broker <command> --help`.'
}
