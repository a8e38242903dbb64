import { AlertDialog as Alert, Dialog as Radix } from 'radix-ui'
import { type ReactNode, useRef, useState } from 'react'
import { icons } from './icons.tsx'
import { hintOf, sentenceOf } from './notices.tsx'
import { Said, visible } from './said.tsx'

interface DialogProps {
  readonly title: string
  readonly description?: ReactNode
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly isWide?: boolean
  readonly children: ReactNode
}

export function Dialog({ title, description, isOpen, onClose, isWide = false, children }: DialogProps) {
  const returning = useReturn()
  const typed = useTypedText()
  const [isLeaving, setLeaving] = useState(false)
  const leave = () => (typed.isThere() ? setLeaving(true) : onClose())
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && leave()}>
      <Radix.Portal>
        <Radix.Overlay className="overlay" />
        <Radix.Content
          className={isWide ? 'dialog wide' : 'dialog'}
          ref={typed.content}
          onInput={typed.note}
          {...returning}
          {...(description === undefined && { 'aria-describedby': undefined })}
        >
          <Radix.Title className="dialog-title">{visible(title)}</Radix.Title>
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
      <Confirm
        isOpen={isLeaving}
        title="Throw away what you typed?"
        act="Throw it away"
        onClose={() => setLeaving(false)}
        onConfirm={async () => onClose()}
      >
        <p>It is stored nowhere yet.</p>
      </Confirm>
    </Radix.Root>
  )
}

/** Whether something was typed into a dialog, and still stands in it. */
function useTypedText() {
  const content = useRef<HTMLDivElement>(null)
  const wasTyped = useRef(false)
  return {
    content,
    note: () => {
      wasTyped.current = true
    },
    isThere: () => {
      const fields = content.current?.querySelectorAll<HTMLInputElement>('input:not([type=radio]), textarea') ?? []
      return wasTyped.current && [...fields].some(({ value }) => value !== '')
    },
  }
}

/** The focus goes back to what opened the dialog, or to the page's heading where that is gone. */
function useReturn() {
  const opener = useRef<Element | null>(null)
  return {
    onOpenAutoFocus: () => {
      opener.current = document.activeElement
    },
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault()
      const isThere = opener.current instanceof HTMLElement && opener.current.isConnected
      const target = isThere && opener.current !== document.body ? opener.current : document.querySelector('h1')
      if (target instanceof HTMLElement) target.focus({ preventScroll: true })
    },
  }
}

interface ConfirmProps {
  readonly title: string
  readonly children: ReactNode
  /** What the button says: the act itself, never "OK". */
  readonly act: string
  readonly isOpen: boolean
  readonly onClose: () => void
  /** The dialog stays until it is done, and says why where it is refused. */
  readonly onConfirm: () => Promise<unknown>
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, children, act, isOpen, onClose, onConfirm }: ConfirmProps) {
  const returning = useReturn()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const leave = () => {
    setError(undefined)
    onClose()
  }
  const confirm = () => {
    setBusy(true)
    setError(undefined)
    onConfirm()
      .then(leave, setError)
      .finally(() => setBusy(false))
  }
  return (
    <Alert.Root open={isOpen} onOpenChange={(open) => !open && leave()}>
      <Alert.Portal>
        <Alert.Overlay className="overlay" />
        <Alert.Content className="dialog" {...returning}>
          <Alert.Title className="dialog-title">{visible(title)}</Alert.Title>
          <Alert.Description asChild>
            <div className="soft">{children}</div>
          </Alert.Description>
          <Wrong error={error} />
          <div className="buttons">
            <Alert.Cancel className="button quiet">Cancel</Alert.Cancel>
            <button type="button" className="button danger" disabled={isBusy} onClick={confirm}>
              {act}
            </button>
          </div>
        </Alert.Content>
      </Alert.Portal>
    </Alert.Root>
  )
}

/** Why something did not work, and what would. */
export function Wrong({ error }: { readonly error: unknown }) {
  if (error === undefined) return null
  return (
    <p className="alert" role="alert">
      <Said>{sentenceOf(error)}</Said>
      <Hint error={error} />
    </p>
  )
}

/** What would work; not where it is a command for what a button here does. */
function Hint({ error }: { readonly error: unknown }) {
  const hint = hintOf(error)
  if (hint === undefined) return null
  return (
    <small>
      <Said>{hint}</Said>
    </small>
  )
}
