import { hash } from 'node:crypto'

/** Letters and digits that are not taken for one another. */
const ALPHABET = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
const LENGTH = 8

/**
 * Returns what the terminal and the page of a claim both show, so that a person sees that they speak of one key: each works it
 * out for itself, from the claim's token and the did:key that is to be claimed.
 * @returns eight letters and digits, `ABCD-2345`
 */
export function claimCode(token: string, did: string): string {
  const digest = hash('sha256', `broker claim ${token} ${did}`, 'buffer')
  const letters = [...digest.subarray(0, LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length])
  return `${letters.slice(0, 4).join('')}-${letters.slice(4).join('')}`
}
