/** A browser without a screen: keeps cookies, follows redirects within one origin, sends the forms it is given. */
export interface ScriptedBrowser {
  /** Follows redirects until one leaves the origin, which is then not asked for. @returns where that one leads */
  follow(url: string): Promise<string>
  /** The page at the end of all redirects. */
  open(url: string): Promise<string>
  /** Sends the first form of a page, with these fields in place of its own. @returns the page that comes of it */
  submit(page: string, fields?: Readonly<Record<string, string>>): Promise<string>
}

const MOST_REDIRECTS = 20

export function openBrowser(origin: string): ScriptedBrowser {
  const cookies = new Map<string, string>()

  async function ask(url: string, form?: URLSearchParams): Promise<Response> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie },
      ...(form && { method: 'POST', body: form }),
    })
    for (const text of response.headers.getSetCookie()) keep(cookies, text)
    return response
  }

  /** The answer that is no redirect within the origin, and where it came from. */
  async function askOn(url: string, form?: URLSearchParams): Promise<Response> {
    let response = await ask(url, form)
    let at = url
    for (let count = 0; count < MOST_REDIRECTS; count++) {
      const next = targetOf(response, at)
      if (next?.origin !== origin) return response
      at = next.href
      response = await ask(at)
    }
    throw new Error(`More than ${MOST_REDIRECTS} redirects from ${url}`)
  }

  return {
    follow: async (url) => {
      const response = await askOn(url)
      const target = response.headers.get('location')
      if (target === null) throw new Error(`Ended at a page, status ${response.status}: ${await response.text()}`)
      return target
    },
    open: async (url) => (await askOn(url)).text(),
    submit: async (page, fields = {}) => {
      const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1]
      if (action === undefined) throw new Error(`There is no form on this page: ${page}`)
      const hidden = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
      const own = Object.fromEntries(hidden.map(([, name, value]) => [name, value]))
      return (await askOn(new URL(action, origin).href, new URLSearchParams({ ...own, ...fields }))).text()
    },
  }
}

function keep(cookies: Map<string, string>, text: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
  if (value === '') cookies.delete(name)
  else cookies.set(name, value)
}

function targetOf({ status, headers }: Response, base: string): URL | undefined {
  const location = headers.get('location')
  return status >= 300 && status < 400 && location !== null ? new URL(location, base) : undefined
}
