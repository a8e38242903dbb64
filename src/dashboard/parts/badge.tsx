export type Tone = 'good' | 'bad' | 'warn' | 'calm'

/** A state in a word. The mark differs with the tone too: color alone says nothing to some. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return (
    <span className={`badge ${tone}`}>
      <span aria-hidden="true">{{ good: '●', bad: '▲', warn: '◆', calm: '○' }[tone]}</span> {children}
    </span>
  )
}
