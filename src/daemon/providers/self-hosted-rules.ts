import type { ErrorDetail } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { parseHostPattern } from './host-rules.ts'
import { sendsOnlySignatures } from './signing-credential.ts'

type SelfHosted = NonNullable<ProviderDefinition['self_hosted']>[number]

/** Rules of `self_hosted`, and of `hosts` where there are none without it. */
export function selfHostedProblems(definition: ProviderDefinition): readonly ErrorDetail[] {
  const { hosts, self_hosted: entries = [], injections = [] } = definition
  const problems = entries.flatMap((entry, index) => entryProblems(definition, entry, `self_hosted.${index}`))
  const repeated = entries.findIndex(({ path }, index) => entries.findIndex((other) => other.path === path) < index)
  return [
    ...(hosts.length === 0 && entries.length === 0 ? [{ path: 'hosts', message: 'must have at least one host' }] : []),
    ...problems,
    ...(repeated < 0 ? [] : [{ path: `self_hosted.${repeated}.path`, message: 'must not be given twice' }]),
    ...(entries.length > 0 && sendsOnlySignatures(definition)
      ? [{ path: 'self_hosted', message: 'has no place where requests are signed' }]
      : []),
    ...(entries.length > 0 && injections.some(({ type }) => type === 'path')
      ? [{ path: 'self_hosted', message: 'has no place where the key is part of the path' }]
      : []),
  ]
}

function entryProblems({ hosts }: ProviderDefinition, { like, path }: SelfHosted, at: string): readonly ErrorDetail[] {
  const isListed = like === undefined || hosts.includes(like)
  const isPath = path === undefined || (path.startsWith('/') && 'pattern' in parseHostPattern(`server.example${path}`))
  return [
    ...(isListed ? [] : [{ path: `${at}.like`, message: 'must be one of the hosts' }]),
    ...(isPath && path !== '/*'
      ? []
      : [{ path: `${at}.path`, message: 'must be a plain path that ends in "/*", or none' }]),
  ]
}
