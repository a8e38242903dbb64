import { stripTypeScriptTypes } from 'node:module'
import { posix } from 'node:path'
import { type SourceFile, sourceFiles } from './source-files.ts'

/** A relative file name where a module is imported, or an entry is named by `new URL('./x.ts', import.meta.url)`. */
const NAMED = /(?<=\b(?:from |import |import\(|new URL\())'(\.{1,2}\/[^']+)'/g

/**
 * The sources without types, as `.js`, each with its source map; the dashboard is built apart. Node's own stripper, which
 * runs the checkout, leaves every character where it was: what runs is what was tested, and a stack has the lines of
 * the sources.
 */
export function builtSources(): readonly SourceFile[] {
  const sources = sourceFiles().filter(({ path }) => !path.startsWith('src/dashboard/'))
  const built = sources.flatMap((source) => (source.path.endsWith('.ts') ? stripped(source) : [renamed(source)]))
  requireNamedFiles(built)
  return built
}

function stripped({ path, text }: SourceFile): readonly SourceFile[] {
  const file = { path: asJavaScript(path), text: stripTypeScriptTypes(text, { mode: 'strip' }) }
  const name = posix.basename(file.path)
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
    { ...file, text: `${renamed(file).text}//# sourceMappingURL=${name}.map\n` },
    { path: `${file.path}.map`, text: `${JSON.stringify(map)}\n` },
  ]
}

function renamed({ path, text }: SourceFile): SourceFile {
  return { path, text: text.replace(NAMED, (quoted) => `'${asJavaScript(quoted.slice(1, -1))}'`) }
}

function asJavaScript(path: string): string {
  return path.replace(/\.ts$/, '.js')
}

/** A name that the pattern above missed, or that leads nowhere, must not be found out by whoever installs. */
function requireNamedFiles(files: readonly SourceFile[]): void {
  const paths = new Set(files.map(({ path }) => path))
  const code = files.filter(({ path }) => /\.c?js$/.test(path))
  const wrong = code.flatMap(({ path, text }) => [
    ...[...text.matchAll(/'\.{1,2}\/[^'\n]*\.ts'/g)].map(([name]) => `${path} names ${name}`),
    ...[...text.matchAll(NAMED)]
      .map(([, name = '']) => name)
      .filter((name) => name.endsWith('js') && !paths.has(posix.join(posix.dirname(path), name)))
      .map((name) => `${path} names ${name}, which is not there`),
  ])
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
}
