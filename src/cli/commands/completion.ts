import { COMPLETE_WORDS } from '../command-words.ts'
import type { Invocation } from '../invocation.ts'

/** Prints a script for the shell to read. What is completed is asked of `broker` at each time. */
export async function completion({ output }: Invocation, shell: string): Promise<void> {
  const script = SCRIPTS[shell as keyof typeof SCRIPTS]
  output.result({ shell, script }, () => output.text(script))
}

const SCRIPTS = {
  bash: `# broker completions for bash: source <(broker completion bash)
_broker() {
  local IFS=$'\\n' words=() count=0 glued='' i word current prefix
  # The shell breaks words at "=" and ":", and broker does not.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if ((count > 0)) && [[ -n $glued || $word == [=:]* ]]; then words[count-1]+="$word"; else words[count++]="$word"; fi
    glued=''
    [[ $word == *[=:] ]] && glued=yes
  done
  current="\${words[count-1]}"
  prefix="\${current%"\${current##*[=:]}"}"
  COMPREPLY=($(broker ${COMPLETE_WORDS} -- "\${words[@]}" 2>/dev/null | cut -f 1))
  COMPREPLY=("\${COMPREPLY[@]#"$prefix"}")
}
complete -o default -F _broker broker
`,
  zsh: `#compdef broker
# broker completions for zsh: source <(broker completion zsh)
_broker() {
  local -a lines described
  local line
  lines=("\${(@f)$(broker ${COMPLETE_WORDS} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}"); done
  if (( $#described )); then _describe broker described; else _files; fi
}
compdef _broker broker
`,
  fish: `# broker completions for fish: broker completion fish | source
function __broker_words
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  test (count $current) -eq 0; and set current ''
  broker ${COMPLETE_WORDS} -- $words[2..-1] $current 2>/dev/null
end
complete -c broker -f -a '(__broker_words)'
complete -c broker -n '__fish_seen_subcommand_from run register onboard' -F
`,
} as const
