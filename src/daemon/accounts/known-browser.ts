import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Secret } from '../../protocol/index.ts'

/** Of an account, what makes a browser known to it: a new password makes all of them strangers. */
export interface KnownTo {
  readonly principal_id: string
  readonly password_hash: string
}

/** A MAC by a key of the vault's; undefined while that is sealed. */
export type Mac = (text: string) => Buffer | undefined

/** What a browser keeps, to be known again. */
export interface Marks {
  /** For the cookie. */
  readonly text: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

const LIFETIME_MS = 365 * 24 * 60 * 60 * 1000
/** A browser may be used by several people; it is known to those who came last. */
const MOST_MARKS = 4

const MARK = /^(?<id>[A-Za-z0-9_-]{22})\.(?<madeAt>[0-9a-z]{6,10})\.(?<mac>[A-Za-z0-9_-]{43})$/
/** Whom no mark was ever made for: asking for an account that is not there takes as long. */
const NOBODY: KnownTo = { principal_id: '(nobody)', password_hash: '' }

/**
 * Browsers in which somebody signed in to an account before. Nothing of them is stored here: a browser brings a mark, which
 * is authenticated for the account and its present password.
 */
export class KnownBrowsers {
  readonly #mac: Mac
  readonly #now: () => number

  constructor(mac: Mac, now: () => number) {
    this.#mac = mac
    this.#now = now
  }

  /** The id that the account knows the browser by; undefined for a stranger. */
  idOf(sent: Secret | undefined, account: KnownTo | undefined): string | undefined {
    const known = marksOf(sent).filter((mark) => this.#isOf(mark, account ?? NOBODY))
    return account && known[0] ? known[0].id : undefined
  }

  /** After a sign-in: the browser is known to this account, and to whom it was. Undefined while the vault is sealed. */
  mark(sent: Secret | undefined, account: KnownTo): Marks | undefined {
    const before = marksOf(sent)
    const own = before.find((mark) => this.#isOf(mark, account))
    const id = own?.id ?? randomBytes(16).toString('base64url')
    const now = this.#now()
    const madeAt = Math.floor(now / 1000).toString(36)
    const mac = this.#macOf({ id, madeAt }, account)
    if (!mac) return undefined
    const others = before.filter((mark) => mark !== own).slice(0, MOST_MARKS - 1)
    const all = [{ id, madeAt, mac: mac.toString('base64url') }, ...others]
    return { text: all.map((mark) => `${mark.id}.${mark.madeAt}.${mark.mac}`).join('~'), expiresAt: now + LIFETIME_MS }
  }

  #isOf(mark: Mark, account: KnownTo): boolean {
    const expected = this.#macOf(mark, account)
    const given = Buffer.from(mark.mac, 'base64url')
    const isOwn = expected?.length === given.length && timingSafeEqual(expected, given)
    return isOwn && this.#now() < Number.parseInt(mark.madeAt, 36) * 1000 + LIFETIME_MS
  }

  #macOf({ id, madeAt }: Pick<Mark, 'id' | 'madeAt'>, { principal_id, password_hash }: KnownTo): Buffer | undefined {
    return this.#mac(['known-browser/1', principal_id, password_hash, id, madeAt].join('\n'))
  }
}

interface Mark {
  readonly id: string
  /** Seconds since 1970, to the base 36. */
  readonly madeAt: string
  readonly mac: string
}

function marksOf(sent: Secret | undefined): readonly Mark[] {
  const texts = sent?.reveal().split('~', MOST_MARKS) ?? []
  return texts.flatMap((text) => {
    const { id, madeAt, mac } = MARK.exec(text)?.groups ?? {}
    return id !== undefined && madeAt !== undefined && mac !== undefined ? [{ id, madeAt, mac }] : []
  })
}
