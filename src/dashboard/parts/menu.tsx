import { DropdownMenu } from 'radix-ui'
import { icons } from './icons.tsx'

export interface MenuItem {
  readonly text: string
  readonly onSelect: () => void
  readonly isDanger?: boolean
}

/** What can be done with one thing. */
export function Menu({ label, items }: { readonly label: string; readonly items: readonly MenuItem[] }) {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger className="plain square" aria-label={label}>
        {icons.more}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={4}>
          {items.map(({ text, onSelect, isDanger }) => (
            <DropdownMenu.Item key={text} className={isDanger ? 'menu-item danger' : 'menu-item'} onSelect={onSelect}>
              {text}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
