import { openInBrowser } from '../browser.ts'
import type { Invocation } from '../invocation.ts'
import { asAgent } from '../session.ts'

export interface DashboardOptions {
  /** Whether a browser is opened; where a person is at the terminal, if it is not said. */
  readonly browser?: boolean
}

/** Signs the browser in by a link that is good once; where none can be opened, the link is there to be taken along. */
export async function dashboard(invocation: Invocation, { browser }: DashboardOptions): Promise<void> {
  const { config, output, terminal } = invocation
  const link = await asAgent(invocation, (client) => client.createDashboardLink())
  const opens = browser ?? (terminal.canAsk && !output.json)
  const opened = opens && (await openInBrowser(link.url, { env: config.inherited }))
  output.result(link, () => {
    if (opened) output.done(`Opened the dashboard at ${config.baseUrl} in your browser`)
    else output.line(link.url)
    output.note('The link signs a browser in once, within a minute. Run the command again for another.')
  })
}
