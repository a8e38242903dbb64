import { stripTypeScriptTypes } from 'node:module'
import { posix } from 'node:path'
import { type SourceFile, sourceFiles } from './source-files.ts'

/** A module's name where it is imported, or a file's in `new URL('./x.ts', import.meta.url)`. */
const NAMED = /(?<=\b(?:from |import |import\(|new URL\())'([^'\n]+)'/g

/** Where the package has the library of a module's name; undefined for what it does not bundle. */
export type LibraryFile = (name: string) => string | undefined

/**
 * The sources without types, as `.js`, each with its source map; the dashboard is built apart. Node's own stripper, which
 * runs the checkout, leaves every character where it was: what runs is what was tested, and a stack has the lines of
 * the sources.
 */
export function builtSources(libraryFile: LibraryFile): readonly SourceFile[] {
  const sources = sourceFiles().filter(({ path }) => !path.startsWith('src/dashboard/'))
  const built = sources.flatMap((source) => (source.path.endsWith('.ts') ? stripped(source) : [source]))
  const files = built.map((file) => (isCode(file) ? renamed(file, libraryFile) : file))
  requireNamedFiles(files.filter(isCode))
  return files
}

/** Names of all modules that the sources import, each once. */
export function importedModules(): readonly string[] {
  const code = builtSources(() => undefined).filter(isCode)
  return [...new Set(code.flatMap(namesIn))].filter((name) => !name.startsWith('.')).toSorted()
}

function stripped({ path, text }: SourceFile): readonly SourceFile[] {
  const file = asJavaScript(path)
  const name = posix.basename(file)
  const map = {
    version: 3,
    file: name,
    sources: [posix.basename(path)],
    sourcesContent: [text],
    names: [],
    // Each line begins where it began.
    mappings: ['AAAA', ...text.split('\n').slice(1).fill('AACA')].join(';'),
  }
  return [
    { path: file, text: `${stripTypeScriptTypes(text, { mode: 'strip' })}//# sourceMappingURL=${name}.map\n` },
    { path: `${file}.map`, text: `${JSON.stringify(map)}\n` },
  ]
}

function renamed({ path, text }: SourceFile, libraryFile: LibraryFile): SourceFile {
  const inPackage = (name: string) => {
    if (name.startsWith('.')) return asJavaScript(name)
    const library = libraryFile(name)
    return library === undefined ? name : posix.relative(posix.dirname(path), library)
  }
  return { path, text: text.replace(NAMED, (_, name) => `'${inPackage(name)}'`) }
}

function asJavaScript(path: string): string {
  return path.replace(/\.ts$/, '.js')
}

function isCode({ path }: SourceFile): boolean {
  return /\.c?js$/.test(path)
}

function namesIn({ text }: SourceFile): readonly string[] {
  return [...text.matchAll(NAMED)].map(([, name = '']) => name)
}

/** A name that the pattern above missed, or that leads nowhere, must not be found out by whoever installs. */
function requireNamedFiles(code: readonly SourceFile[]): void {
  const paths = new Set(code.map(({ path }) => path))
  const missed = code.flatMap(({ path, text }) =>
    [...text.matchAll(/'\.{1,2}\/[^'\n]*\.ts'/g)].map(([name]) => `${path} names ${name}`),
  )
  const lost = code.flatMap((file) =>
    namesIn(file)
      .map((name) => posix.join(posix.dirname(file.path), name))
      .filter((path) => path.startsWith('src/') && isCode({ path, text: '' }) && !paths.has(path))
      .map((path) => `${file.path} names ${path}, which is not there`),
  )
  if (missed.length + lost.length > 0) throw new Error([...missed, ...lost].join('\n'))
}
