import type { Config } from '../config/index.ts'

/** Returns what to do where this command line and the daemon are of different versions, in a line; undefined where they are not. */
export function versionSkew(
  own: string,
  daemon: string,
  { baseUrl, baseUrlIsOwn }: Pick<Config, 'baseUrl' | 'baseUrlIsOwn'>,
): string | undefined {
  const order = compare(own, daemon)
  if (order === 0) return undefined
  if (order < 0) return `The daemon is newer (${daemon}) than this command line (${own}): update your command line`
  const way = baseUrlIsOwn ? 'broker daemon restart' : `whoever runs ${baseUrl} should update it`
  return `The daemon is older (${daemon}) than this command line (${own}): ${way}`
}

/** By the numbers; what follows them, as of a release candidate, does not count. */
function compare(one: string, other: string): number {
  const [first, second] = [numbersOf(one), numbersOf(other)]
  return first.map((number, at) => number - (second[at] ?? number)).find((difference) => difference !== 0) ?? 0
}

function numbersOf(version: string): readonly number[] {
  const [, ...numbers] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []
  return numbers.map(Number)
}
