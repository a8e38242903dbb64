import { DropdownMenu } from 'radix-ui'
import { useRef } from 'react'
import { icons } from './icons.tsx'

export interface MenuItem {
  readonly text: string
  readonly onSelect: () => void
  readonly isDanger?: boolean
}

/** What can be done with one thing. It is done once the focus is back on the button, where a dialog will return it. */
export function Menu({ label, items }: { readonly label: string; readonly items: readonly MenuItem[] }) {
  const trigger = useRef<HTMLButtonElement>(null)
  const chosen = useRef<(() => void) | undefined>(undefined)
  const onClosed = (event: Event) => {
    event.preventDefault()
    trigger.current?.focus()
    chosen.current?.()
    chosen.current = undefined
  }
  return (
    // What is beside it stays to be read, and where it opens is within the page.
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger ref={trigger} className="plain square" aria-label={label}>
        {icons.more}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal container={document.getElementById('content')}>
        <DropdownMenu.Content
          className="menu"
          align="end"
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={onClosed}
        >
          {items.map(({ text, onSelect, isDanger }) => (
            <DropdownMenu.Item
              key={text}
              className={isDanger ? 'menu-item danger' : 'menu-item'}
              onSelect={() => {
                chosen.current = onSelect
              }}
            >
              {text}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
