import { BrokerError } from '../../protocol/index.ts'

const COMMON = [
  'password',
  'passw0rd',
  '12345678',
  'qwertyui',
  'letmein',
  'iloveyou',
  'admin',
  'welcome',
  'changeme',
  'broker',
]

/**
 * Refuses a word of the usual lists with something behind it, one letter many times, and the address itself.
 * @throws BrokerError InvalidRequestError
 */
export function refuseCommon(password: string, email: string): void {
  const plain = password.toLowerCase()
  const isWord = COMMON.some((word) => plain.startsWith(word) && /^[\d!.?_-]*$/.test(plain.slice(word.length)))
  if (!isWord && new Set(plain).size > 3 && plain !== email && plain !== email.split('@')[0]) return
  throw new BrokerError('InvalidRequestError', 'Cannot take this password: it is one that everybody tries', {
    details: [{ path: 'password', message: 'is one that everybody tries' }],
    hint: 'Several words in a row are easy to remember and hard to guess.',
  })
}
