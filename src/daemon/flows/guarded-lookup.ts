import { lookup as lookupName } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { type AddressKind, addressKind } from '../../network/index.ts'
import { Unreachable, type UnreachableKind } from './provider-failure.ts'

/** Whether a private address may be asked too. A cloud's metadata service never is. */
export type Reach = 'private' | 'public'

interface FoundAddress {
  readonly address: string
  readonly family: number
}

/** All addresses of a name. */
export type LookUp = (hostname: string) => Promise<readonly FoundAddress[]>

export interface GuardedLookup {
  /** Resolves for the very connection that is then made: what a name meant a moment before does not count. */
  readonly lookup: LookupFunction
  /** Returns what kind of address was connected to; `public` where a proxy looked the name up. */
  from(): AddressKind
}

/** Stands between the name in a URL and a connection. @throws Unreachable where the URL has a literal address out of reach */
export function guardedLookup(url: URL, reach: Reach, resolve: LookUp = systemResolve): GuardedLookup {
  const literal = url.hostname.replace(/^\[|\]$/g, '')
  let from: AddressKind = isIP(literal) === 0 ? 'public' : permitted([literal], reach, url)
  const permittedAddresses = async (hostname: string) => {
    const found = await resolve(hostname)
    from = permitted(
      found.map(({ address }) => address),
      reach,
      url,
    )
    return found
  }
  return { lookup: lookupBy(permittedAddresses), from: () => from }
}

function systemResolve(hostname: string): Promise<readonly FoundAddress[]> {
  return lookupName(hostname, { all: true })
}

function permitted(addresses: readonly string[], reach: Reach, url: URL): AddressKind {
  const kinds = new Set(addresses.map(addressKind))
  const refusal: UnreachableKind | undefined = kinds.has('metadata')
    ? 'metadata_address'
    : kinds.has('private') && reach === 'public'
      ? 'private_address'
      : undefined
  if (refusal !== undefined) throw new Unreachable(refusal, url.host)
  return kinds.has('public') ? 'public' : 'private'
}

function lookupBy(resolve: LookUp): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      (found) => {
        const [first] = found
        if (first === undefined) callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '')
        else if (all === true) callback(null, [...found])
        else callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    )
  }
}
