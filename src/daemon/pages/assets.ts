import { createHash } from 'node:crypto'
import { DOCS_SCRIPT } from './docs-script.ts'
import { STYLES } from './styles.ts'

/** A file that pages load from the daemon itself. Its path changes with its text, so it may be kept for ever. */
export interface PageAsset {
  readonly path: string
  readonly contentType: string
  readonly text: string
}

export const stylesheet = asset('page', 'css', 'text/css; charset=utf-8', STYLES)
export const docsScript = asset('docs', 'js', 'text/javascript; charset=utf-8', DOCS_SCRIPT)

/** What the daemon serves for the pages, beside the two files of Swagger UI. */
export const pageAssets: readonly PageAsset[] = [stylesheet, docsScript]

function asset(name: string, extension: string, contentType: string, text: string): PageAsset {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
  return { path: `/assets/${name}.${hash}.${extension}`, contentType, text }
}
