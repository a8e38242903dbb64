import type { Command } from 'commander'
import type { Invocation } from '../invocation.ts'

interface Completion {
  /** Words before, joined by spaces: `broker daemon`. */
  readonly path: string
  readonly words: readonly { readonly word: string; readonly description: string }[]
}

/** Prints a script for the shell to read. */
export async function completion({ output }: Invocation, program: Command, shell: string): Promise<void> {
  const completions = completionsOf(program, program.name())
  const script = SCRIPTS[shell as keyof typeof SCRIPTS](completions)
  output.result({ shell, script }, () => output.text(script))
}

function completionsOf(command: Command, path: string): readonly Completion[] {
  const options = command.options.flatMap(({ long, description }) => (long ? [{ word: long, description }] : []))
  const commands = command.commands.map((child) => ({ word: child.name(), description: child.description() }))
  const own = { path, words: [...commands, ...options, { word: '--help', description: 'print help' }] }
  return [own, ...command.commands.flatMap((child) => completionsOf(child, `${path} ${child.name()}`))]
}

const SCRIPTS = {
  bash: (completions: readonly Completion[]) => `# broker completions for bash: source <(broker completion bash)
_broker() {
  local path=broker word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) case " ${paths(completions)} " in *" $path/$word "*) path="$path/$word" ;; esac ;; esac
  done
  case "$path" in
${completions.map(({ path, words }) => `    ${slashed(path)}) COMPREPLY=($(compgen -W '${words.map(({ word }) => word).join(' ')}' -- "\${COMP_WORDS[COMP_CWORD]}")) ;;`).join('\n')}
  esac
}
complete -o default -F _broker broker
`,
  zsh: (completions: readonly Completion[]) => `#compdef broker
# broker completions for zsh: source <(broker completion zsh)
_broker() {
  local path=broker word
  local -a words_here
  for word in "\${words[@]:1:CURRENT-2}"; do
    case "$word" in -*) ;; *) case " ${paths(completions)} " in *" $path/$word "*) path="$path/$word" ;; esac ;; esac
  done
  case "$path" in
${completions.map(({ path, words }) => `    ${slashed(path)}) words_here=(${words.map(({ word, description }) => `'${word}:${quoted(description)}'`).join(' ')}) ;;`).join('\n')}
  esac
  _describe 'broker' words_here || _files
}
compdef _broker broker
`,
  fish: (completions: readonly Completion[]) => `# broker completions for fish: broker completion fish | source
${completions.flatMap(({ path, words }) => words.map((entry) => fishLine(path, entry))).join('\n')}
`,
}

function fishLine(path: string, { word, description }: Completion['words'][number]): string {
  const [, ...parents] = path.split(' ')
  const seen = parents.map((parent) => `__fish_seen_subcommand_from ${parent}`)
  const condition = seen.length > 0 ? seen.join('; and ') : '__fish_use_subcommand'
  const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`
  return `complete -c broker -n '${condition}' ${what} -d '${quoted(description)}'`
}

function paths(completions: readonly Completion[]): string {
  return completions.map(({ path }) => slashed(path)).join(' ')
}

function slashed(path: string): string {
  return path.replaceAll(' ', '/')
}

function quoted(text: string): string {
  return text.replace(/[':]/g, '')
}
