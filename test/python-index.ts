import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathOf } from './named-server.ts'

export interface Wheel {
  /** As it is asked for: lower case with `-`. */
  readonly project: string
  readonly file: string
  readonly bytes: Buffer
}

/** The simple index of one wheel (PEP 503), at this address. */
export function pythonIndex(base: string, { project, file, bytes }: Wheel): RequestListener {
  const { pathname } = new URL(base)
  const pages: Readonly<Record<string, string | Buffer>> = {
    [`${pathname}simple/${project}/`]: `<!doctype html><a href="${pathname}files/${file}">${file}</a>`,
    [`${pathname}files/${file}`]: bytes,
  }
  return (request, response) => {
    const page = pages[pathOf(request.url)]
    response.writeHead(page === undefined ? 404 : 200, typeof page === 'string' ? { 'content-type': 'text/html' } : {})
    response.end(page)
  }
}

/** A wheel with one module. */
export function makeWheel(module: string): Wheel {
  const folder = mkdtempSync(join(tmpdir(), 'broker-wheel-'))
  const facts = `${module}-1.0.dist-info`
  const file = `${module}-1.0-py3-none-any.whl`
  mkdirSync(join(folder, facts))
  const members = {
    [`${module}.py`]: 'answer = 42\n',
    [`${facts}/METADATA`]: `Metadata-Version: 2.1\nName: ${module}\nVersion: 1.0\n`,
    [`${facts}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${facts}/RECORD`]: `${module}.py,,\n${facts}/METADATA,,\n${facts}/WHEEL,,\n${facts}/RECORD,,\n`,
  }
  for (const [name, text] of Object.entries(members)) writeFileSync(join(folder, name), text)
  try {
    execFileSync('python3', ['-m', 'zipfile', '-c', file, `${module}.py`, facts], { cwd: folder })
    return { project: module.replaceAll('_', '-'), file, bytes: readFileSync(join(folder, file)) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
