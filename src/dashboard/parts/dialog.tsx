import { AlertDialog as Alert, Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { icons } from './icons.tsx'

interface DialogProps {
  readonly title: string
  readonly description?: ReactNode
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly isWide?: boolean
  readonly children: ReactNode
}

export function Dialog({ title, description, isOpen, onClose, isWide = false, children }: DialogProps) {
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="overlay" />
        <Radix.Content
          className={isWide ? 'dialog wide' : 'dialog'}
          {...(description === undefined && { 'aria-describedby': undefined })}
        >
          <Radix.Title className="dialog-title">{title}</Radix.Title>
          {description !== undefined && (
            <Radix.Description asChild>
              <div className="soft">{description}</div>
            </Radix.Description>
          )}
          {children}
          <Radix.Close className="plain square dialog-close" aria-label="Close">
            {icons.close}
          </Radix.Close>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

interface ConfirmProps {
  readonly title: string
  readonly children: ReactNode
  /** What the button says: the act itself, never "OK". */
  readonly act: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onConfirm: () => void
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, children, act, isOpen, onClose, onConfirm }: ConfirmProps) {
  return (
    <Alert.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Alert.Portal>
        <Alert.Overlay className="overlay" />
        <Alert.Content className="dialog">
          <Alert.Title className="dialog-title">{title}</Alert.Title>
          <Alert.Description asChild>
            <div className="soft">{children}</div>
          </Alert.Description>
          <div className="buttons">
            <Alert.Cancel className="button quiet">Cancel</Alert.Cancel>
            <Alert.Action className="button danger" onClick={onConfirm}>
              {act}
            </Alert.Action>
          </div>
        </Alert.Content>
      </Alert.Portal>
    </Alert.Root>
  )
}
