import { BrokerError } from '../protocol/index.ts'

/**
 * Opens the page in the user's browser, as far as there is one: the caller has printed the address.
 * @throws BrokerError InvalidRequestError for anything but http and https.
 */
export async function openInBrowser(url: string): Promise<void> {
  const { protocol } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new BrokerError('InvalidRequestError', 'Only http and https pages are opened in the browser')
  }
  try {
    const { default: open } = await import('open')
    const opener = await open(url)
    // It fails later where the machine has no browser, and must not end the command then.
    opener.once('error', () => undefined)
    opener.unref()
  } catch {
    // The address is on the screen.
  }
}
