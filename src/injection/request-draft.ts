import { type BodyEdit, bodyEditOf } from './body-edit.ts'
import { FrameEdit } from './frame-edit.ts'

interface OwnHeader {
  readonly name: string
  readonly value?: string
}

/** A request while credentials are put into it. Header names are compared in the one spelling of {@link spelled}. */
export class RequestDraft {
  /** Path and query, as they are sent. */
  target: string
  /** By name, what takes the place of the client's own, spelled as it is to be sent; undefined where that is only taken out. */
  readonly headers = new Map<string, { readonly name: string; readonly value: string } | undefined>()
  /** By name, what takes the place of the client's own cookie. */
  readonly cookies = new Map<string, string | undefined>()
  readonly #inBody = new Map<string, string>()
  readonly #inMessages = new Map<string, string>()
  #messages = 0
  readonly #ownHeaders: readonly OwnHeader[]

  /** @param ownHeaders the client's headers, their names in lower case */
  constructor(target: string, ownHeaders: readonly OwnHeader[]) {
    this.target = target
    this.#ownHeaders = ownHeaders
  }

  setHeader(name: string, value: string | undefined, onlyIfAbsent = false): void {
    const key = spelled(name.toLowerCase())
    if (onlyIfAbsent && this.#ownHeaders.some((own) => spelled(own.name) === key)) return
    this.headers.set(key, value === undefined ? undefined : { name, value })
  }

  setParameter(name: string, value: string | undefined): void {
    const at = this.target.indexOf('?')
    const path = at === -1 ? this.target : this.target.slice(0, at)
    const own = at === -1 ? [] : this.target.slice(at + 1).split('&')
    const kept = own.filter((parameter) => parameterName(parameter) !== name)
    const set = value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`]
    const parameters = [...kept, ...set]
    this.target = parameters.length === 0 ? path : `${path}?${parameters.join('&')}`
  }

  setSegment(prefix: string, value: string): void {
    this.target = withSegment(this.target, prefix, `${prefix}${value}`)
  }

  /** @param name a JSON pointer, or a field of a form */
  setInBody(name: string, value: string): void {
    this.#inBody.set(name, value)
  }

  setInMessages(pointer: string, value: string, messages: number): void {
    this.#inMessages.set(pointer, value)
    this.#messages = Math.max(this.#messages, messages)
  }

  /** What its body goes through; undefined where that passes as it is. @param length undefined where none was said */
  bodyEdit(length: number | undefined): BodyEdit | undefined {
    if (this.#inBody.size === 0) return undefined
    const header = (wanted: string) => this.#ownHeaders.find(({ name }) => name === wanted)?.value
    return bodyEditOf(this.#inBody, { header, length })
  }

  /** What the frames of its WebSocket go through; undefined where they pass as they are. */
  frameEdit(): FrameEdit | undefined {
    return this.#inMessages.size === 0 ? undefined : new FrameEdit(this.#inMessages, this.#messages)
  }

  setCookie(name: string, value: string | undefined): void {
    this.cookies.set(name, value)
  }

  /**
   * The value of the Cookie header.
   * @param own values of the client's Cookie headers, in their order
   */
  cookieHeader(own: readonly string[]): string {
    const pairs = own.flatMap((value) => value.split(';')).map((pair) => pair.trim())
    const kept = pairs.filter((pair) => pair !== '' && !this.cookies.has(pair.split('=', 1)[0]?.trim() ?? ''))
    const set = [...this.cookies].flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
    return [...kept, ...set].join('; ')
  }
}

/** CGI-like servers read `X_Api_Key` and `X-Api-Key` as one name. */
export function spelled(name: string): string {
  return name.includes('_') ? name.replaceAll('_', '-') : name
}

/**
 * The request target with another text for the first segment of its path that begins with `prefix` (`/bot`), or for
 * the whole segments of `prefix` and the one behind them where it ends in a slash (`/v2/`) and the path begins with it;
 * unchanged where there is none.
 */
export function withSegment(target: string, prefix: string, text: string): string {
  const path = target.split('?', 1)[0] ?? target
  const start = path.indexOf(prefix)
  const isWhole = prefix.endsWith('/')
  if (start === -1 || (isWhole && start > 0)) return target
  const next = path.indexOf('/', isWhole ? prefix.length : start + 1)
  return target.slice(0, start) + text + target.slice(next === -1 ? path.length : next)
}

function parameterName(parameter: string): string {
  const name = parameter.split('=', 1)[0]?.replaceAll('+', ' ') ?? ''
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
