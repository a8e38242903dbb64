import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { findProgram } from '../tools/available.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Debian's, without its own calls to elsewhere. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: findProgram('chromium') ?? '',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

/**
 * Holds that what is shown at this moment breaks no rule of axe.
 * @param part a selector; the whole page where absent
 */
export async function assertAccessible(page: Page, part?: string): Promise<void> {
  // Axe takes colors as they are, and those of what appears are not yet what they will be.
  await page.evaluate('Promise.all(document.getAnimations().map((one) => one.finished.catch(() => undefined)))')
  if (!(await page.evaluate('Boolean(window.axe)'))) await page.evaluate(AXE)
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${part === undefined ? '' : JSON.stringify(part)})`)
  assert.deepEqual(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`),
    [],
  )
}

/**
 * What a page complains of: what its policy kept from happening, failed scripts, refused requests, dialogs, calls to
 * elsewhere. Pages that the person goes to are none.
 */
export function listenForComplaints(page: Page, origin: string, complaints: string[]): void {
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => void complaints.push(error.message))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const isElsewhere = new URL(request.url()).origin !== origin
    if (isElsewhere && !request.isNavigationRequest()) complaints.push(`elsewhere: ${request.url()}`)
  })
}
