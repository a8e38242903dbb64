import { setTimeout as delay } from 'node:timers/promises'
import pc from 'picocolors'

const checks: { readonly claim: string; readonly held: boolean }[] = []

/** Tells whether a claim holds, and remembers it for the {@link verdict}. */
export function check(claim: string, held: boolean): void {
  checks.push({ claim, held })
  console.log(`  ${held ? pc.green('✓') : pc.red('✗')} ${claim}`)
}

export function heading(text: string): void {
  console.log(`\n${pc.bold(text)}`)
}

/** A command as one would type it, with the names of files alone. */
export function command(text: string): void {
  console.log(`  ${pc.dim('$')} ${text.replaceAll(/(?<=\s)[^\s:]*\//g, '')}`)
}

export function note(text: string): void {
  console.log(`  ${pc.dim(text)}`)
}

export function quote(text: string): void {
  console.log(text.trimEnd().replace(/^/gm, '    '))
}

/** Rows below their names; a column is as wide as its widest cell. */
export function table(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  for (const [index, row] of rows.entries()) {
    const line = row.map((cell, column) => cell.padEnd((widths[column] ?? 0) + 2)).join('')
    console.log(`  ${index === 0 ? pc.dim(line.trimEnd()) : line.trimEnd()}`)
  }
  console.log()
}

const BAR = 32

/** Waits until a moment (milliseconds since 1970), and shows how far it is. */
export async function waitUntil(moment: number, what: string): Promise<void> {
  const length = Math.max(1, moment - Date.now())
  const left = () => Math.max(0, moment - Date.now())
  if (!process.stdout.isTTY) note(`${(length / 1000).toFixed(1)} s ${what}`)
  while (left() > 0) {
    if (process.stdout.isTTY)
      process.stdout.write(`\r  ${bar(1 - left() / length)} ${(left() / 1000).toFixed(1)} s ${what} `)
    await delay(Math.min(100, left()))
  }
  if (process.stdout.isTTY) process.stdout.write(`\r${' '.repeat(BAR + what.length + 12)}\r`)
}

function bar(share: number): string {
  const full = Math.round(BAR * share)
  return pc.cyan('━'.repeat(full)) + pc.dim('─'.repeat(BAR - full))
}

/** The exit code: 0 only where every claim held. */
export function verdict(milliseconds: number): number {
  const failed = checks.filter(({ held }) => !held)
  const seconds = (milliseconds / 1000).toFixed(1)
  heading(failed.length === 0 ? pc.green(`All of it held (${seconds} s).`) : pc.red(`${failed.length} did not hold:`))
  for (const { claim } of failed) console.log(`  ${claim}`)
  return failed.length === 0 ? 0 : 1
}
