/** A connection that does not serve, in one line for people: what, why, and the command that mends it. */
export function attentionLine({
  provider,
  connection,
  reason,
  fix,
}: {
  readonly provider: string
  readonly connection?: string | undefined
  readonly reason: string
  readonly fix: string
}): string {
  const what = connection === undefined ? `Provider ${provider}` : `Connection "${connection}" of ${provider}`
  return `${what} will not serve: ${reason.charAt(0).toLowerCase()}${reason.slice(1)} Mend it: ${fix}`
}
