import { Component, type ReactNode } from 'react'
import { Empty, Page } from './page.tsx'

interface GuardProps {
  readonly children: ReactNode
}

/** A page that cannot be drawn says so, and the others stay within reach. */
export class Guard extends Component<GuardProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children
    return (
      <Page title="This page cannot be shown">
        <Empty title="That is a fault of the dashboard, not yours">
          <p>Nothing was changed by it. Loading the page again often helps.</p>
          <button type="button" className="button" onClick={() => location.reload()}>
            Load it again
          </button>
        </Empty>
      </Page>
    )
  }
}
