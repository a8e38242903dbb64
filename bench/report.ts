import { cpus } from 'node:os'
import type { Ratio } from './statistics.ts'

/** One line of the table. */
export interface Finding {
  /** `proxy, 16 connections: credential at hand` */
  readonly measure: string
  /** What was measured, to what it is held against; absent where there is nothing to hold it against. */
  readonly ratio?: Ratio
  readonly target?: Target
  /** Medians of what was measured, by name with unit. */
  readonly raw: Readonly<Record<string, number>>
  /** Why it was left out. */
  readonly leftOut?: string
}

export interface Target {
  readonly text: string
  readonly held: boolean
}

export function atLeast(limit: number, { median }: Ratio): Target {
  return { text: `≥ ${limit}`, held: median >= limit }
}

export function atMost(limit: number, { median }: Ratio): Target {
  return { text: `≤ ${limit}`, held: median <= limit }
}

export function below(limit: number, unit: string, value: number): Target {
  return { text: `< ${limit} ${unit}`, held: value < limit }
}

/** What `bench/results` keeps of a run. */
export function resultOf(findings: readonly Finding[], seconds: number): object {
  return {
    date: new Date().toISOString(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpus: cpus().length,
    seconds: Math.round(seconds),
    findings: findings.map(({ ratio, raw, ...finding }) => ({
      ...finding,
      ...(ratio && { ratio: rounded(ratio.median), spread: ratio.spread.map(rounded) }),
      raw: Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, rounded(value)])),
    })),
  }
}

export function tableOf(findings: readonly Finding[]): string {
  const rows = [['measure', 'ratio', 'spread', 'target', '', 'medians'], ...findings.map(rowOf)]
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, column) => Math.max(cell.length, widest[column] ?? 0)),
    [],
  )
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function rowOf({ measure, ratio, target, raw, leftOut }: Finding): string[] {
  const medians = Object.entries(raw).map(([name, value]) => `${name} ${shown(value)}`)
  return [
    measure,
    ratio ? ratio.median.toFixed(2) : '',
    ratio ? ratio.spread.map((value) => value.toFixed(2)).join('–') : '',
    target?.text ?? '',
    target ? (target.held ? '✓' : '✗') : '',
    leftOut ?? medians.join(', '),
  ]
}

function shown(value: number): string {
  return value >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}

function rounded(value: number): number {
  return Number(value.toPrecision(4))
}
