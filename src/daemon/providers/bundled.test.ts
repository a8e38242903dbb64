import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Secret } from '../../protocol/index.ts'
import { credentialHosts } from './base-url.ts'
import { credentialFields, parseCredential } from './credential.ts'
import { formatHost, matchesHost, tie } from './host-pattern.ts'
import { injectionFor } from './injection.ts'
import { openProviders } from './open-providers.ts'
import type { Provider } from './provider.ts'

const bundledDir = join(import.meta.dirname, '../../../providers')
const bundled = openProviders({ bundledDir, customDir: join(bundledDir, 'none') })

/** What each sends, written down from its documentation: the key is `CNRYkey`, any other field `CNRY` and its name. */
const EXPECTED: readonly (readonly [name: string, request: string, ...injected: string[]])[] = [
  ['airtable', 'api.airtable.com/v0/app', 'Authorization: Bearer CNRYkey'],
  ['alpha-vantage', 'www.alphavantage.co/query', '?apikey=CNRYkey'],
  ['anthropic', 'api.anthropic.com/v1/messages', 'x-api-key: CNRYkey', 'anthropic-version: 2023-06-01 (if absent)'],
  ['asana', 'app.asana.com/api/1.0/users/me', 'Authorization: Bearer CNRYkey'],
  ['assemblyai', 'api.assemblyai.com/v2/transcript', 'Authorization: CNRYkey'],
  ['brave-search', 'api.search.brave.com/res/v1/web/search', 'X-Subscription-Token: CNRYkey'],
  ['buildkite', 'api.buildkite.com/v2/user', 'Authorization: Bearer CNRYkey'],
  ['cerebras', 'api.cerebras.ai/v1/models', 'Authorization: Bearer CNRYkey'],
  ['circleci', 'circleci.com/api/v2/me', 'Circle-Token: CNRYkey'],
  ['clickup', 'api.clickup.com/api/v2/user', 'Authorization: CNRYkey'],
  ['cloudflare', 'api.cloudflare.com/client/v4/zones', 'Authorization: Bearer CNRYkey'],
  ['cohere', 'api.cohere.com/v2/chat', 'Authorization: Bearer CNRYkey'],
  ['datadog', 'api.us5.datadoghq.com/api/v1/query', 'DD-API-KEY: CNRYkey', 'DD-APPLICATION-KEY: CNRYapp_key'],
  ['deepgram', 'api.deepgram.com/v1/listen', 'Authorization: Token CNRYkey'],
  ['deepl', 'api-free.deepl.com/v2/translate', 'Authorization: DeepL-Auth-Key CNRYkey'],
  ['deepseek', 'api.deepseek.com/models', 'Authorization: Bearer CNRYkey'],
  ['digitalocean', 'api.digitalocean.com/v2/account', 'Authorization: Bearer CNRYkey'],
  ['discord', 'discord.com/api/v10/users/@me', 'Authorization: Bot CNRYkey'],
  ['elevenlabs', 'api.elevenlabs.io/v1/voices', 'xi-api-key: CNRYkey'],
  ['exa', 'api.exa.ai/search', 'x-api-key: CNRYkey'],
  ['fal', 'queue.fal.run/fal-ai/flux', 'Authorization: Key CNRYkey'],
  ['figma', 'api.figma.com/v1/me', 'X-Figma-Token: CNRYkey'],
  ['finnhub', 'finnhub.io/api/v1/quote', '?token=CNRYkey'],
  ['firecrawl', 'api.firecrawl.dev/v1/scrape', 'Authorization: Bearer CNRYkey'],
  ['fireworks', 'api.fireworks.ai/inference/v1/models', 'Authorization: Bearer CNRYkey'],
  ['giphy', 'api.giphy.com/v1/gifs/search', '?api_key=CNRYkey'],
  ['github', 'api.github.com/user', 'Authorization: Bearer CNRYkey'],
  ['gitlab', 'gitlab.com/api/v4/user', 'PRIVATE-TOKEN: CNRYkey'],
  ['google-gemini', 'generativelanguage.googleapis.com/v1beta/models', 'x-goog-api-key: CNRYkey'],
  ['groq', 'api.groq.com/openai/v1/models', 'Authorization: Bearer CNRYkey'],
  [
    'heroku',
    'api.heroku.com/account',
    'Authorization: Bearer CNRYkey',
    'Accept: application/vnd.heroku+json; version=3 (if absent)',
  ],
  ['hetzner', 'api.hetzner.cloud/v1/servers', 'Authorization: Bearer CNRYkey'],
  ['honeycomb', 'api.honeycomb.io/1/auth', 'X-Honeycomb-Team: CNRYkey'],
  ['hubspot', 'api.hubapi.com/crm/v3/objects/contacts', 'Authorization: Bearer CNRYkey'],
  ['huggingface', 'router.huggingface.co/v1/models', 'Authorization: Bearer CNRYkey'],
  ['jina', 'api.jina.ai/v1/embeddings', 'Authorization: Bearer CNRYkey'],
  ['jira', 'acme.atlassian.net/rest/api/3/myself', 'Authorization: Basic Q05SWWVtYWlsOkNOUllrZXk='],
  [
    'klaviyo',
    'a.klaviyo.com/api/accounts',
    'Authorization: Klaviyo-API-Key CNRYkey',
    'revision: 2024-07-15 (if absent)',
  ],
  ['launchdarkly', 'app.launchdarkly.com/api/v2/projects', 'Authorization: CNRYkey'],
  ['linear', 'api.linear.app/graphql', 'Authorization: CNRYkey'],
  ['mailgun', 'api.eu.mailgun.net/v3/domains', 'Authorization: Basic YXBpOkNOUllrZXk='],
  ['mistral', 'api.mistral.ai/v1/models', 'Authorization: Bearer CNRYkey'],
  ['monday', 'api.monday.com/v2', 'Authorization: CNRYkey'],
  ['nasa', 'api.nasa.gov/planetary/apod', '?api_key=CNRYkey'],
  ['neon', 'console.neon.tech/api/v2/projects', 'Authorization: Bearer CNRYkey'],
  ['netlify', 'api.netlify.com/api/v1/sites', 'Authorization: Bearer CNRYkey'],
  ['new-relic', 'api.eu.newrelic.com/graphql', 'API-Key: CNRYkey'],
  ['ngrok', 'api.ngrok.com/endpoints', 'Authorization: Bearer CNRYkey', 'ngrok-version: 2 (if absent)'],
  ['notion', 'api.notion.com/v1/users/me', 'Authorization: Bearer CNRYkey', 'Notion-Version: 2022-06-28 (if absent)'],
  ['npm', 'registry.npmjs.org/-/whoami', 'Authorization: Bearer CNRYkey'],
  ['nvidia', 'integrate.api.nvidia.com/v1/models', 'Authorization: Bearer CNRYkey'],
  ['okta', 'acme.okta.com/api/v1/users/me', 'Authorization: SSWS CNRYkey'],
  ['openai', 'api.openai.com/v1/models', 'Authorization: Bearer CNRYkey'],
  ['openrouter', 'openrouter.ai/api/v1/models', 'Authorization: Bearer CNRYkey'],
  ['openweather', 'api.openweathermap.org/data/2.5/weather', '?appid=CNRYkey'],
  ['pagerduty', 'api.pagerduty.com/users/me', 'Authorization: Token token=CNRYkey'],
  ['perplexity', 'api.perplexity.ai/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['pexels', 'api.pexels.com/v1/search', 'Authorization: CNRYkey'],
  ['pinecone', 'api.pinecone.io/indexes', 'Api-Key: CNRYkey'],
  ['postmark', 'api.postmarkapp.com/email', 'X-Postmark-Server-Token: CNRYkey'],
  ['render', 'api.render.com/v1/services', 'Authorization: Bearer CNRYkey'],
  ['replicate', 'api.replicate.com/v1/account', 'Authorization: Bearer CNRYkey'],
  ['resend', 'api.resend.com/emails', 'Authorization: Bearer CNRYkey'],
  ['rubygems', 'rubygems.org/api/v1/gems.json', 'Authorization: CNRYkey'],
  ['sendgrid', 'api.sendgrid.com/v3/mail/send', 'Authorization: Bearer CNRYkey'],
  ['sentry', 'us.sentry.io/api/0/projects/', 'Authorization: Bearer CNRYkey'],
  ['serpapi', 'serpapi.com/search', '?api_key=CNRYkey'],
  ['shodan', 'api.shodan.io/shodan/host/search', '?key=CNRYkey'],
  ['slack', 'slack.com/api/auth.test', 'Authorization: Bearer CNRYkey'],
  ['snyk', 'api.snyk.io/rest/self', 'Authorization: token CNRYkey'],
  ['stability-ai', 'api.stability.ai/v1/user/account', 'Authorization: Bearer CNRYkey'],
  ['stripe', 'api.stripe.com/v1/charges', 'Authorization: Bearer CNRYkey'],
  ['supabase', 'api.supabase.com/v1/projects', 'Authorization: Bearer CNRYkey'],
  ['tavily', 'api.tavily.com/search', 'Authorization: Bearer CNRYkey'],
  ['todoist', 'api.todoist.com/api/v1/projects', 'Authorization: Bearer CNRYkey'],
  ['together', 'api.together.xyz/v1/models', 'Authorization: Bearer CNRYkey'],
  ['trello', 'api.trello.com/1/members/me', '?key=CNRYkey', '?token=CNRYtoken'],
  ['twilio', 'verify.twilio.com/v2/Services', 'Authorization: Basic Q05SWXNpZDpDTlJZa2V5'],
  ['vercel', 'api.vercel.com/v2/user', 'Authorization: Bearer CNRYkey'],
  ['virustotal', 'www.virustotal.com/api/v3/files', 'x-apikey: CNRYkey'],
  ['voyage', 'api.voyageai.com/v1/embeddings', 'Authorization: Bearer CNRYkey'],
  ['xai', 'api.x.ai/v1/models', 'Authorization: Bearer CNRYkey'],
  ['zendesk', 'acme.zendesk.com/api/v2/users/me.json', 'Authorization: Basic Q05SWWVtYWlsL3Rva2VuOkNOUllrZXk='],
]

/** What each sends after a login by OAuth. Written down as above; the token is `CNRYtoken`. */
const EXPECTED_OF_TOKENS: readonly (readonly [name: string, request: string, ...injected: string[]])[] = [
  ['airtable', 'api.airtable.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['asana', 'app.asana.com/api/1.0/users/me', 'Authorization: Bearer CNRYtoken'],
  ['atlassian', 'api.atlassian.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['basecamp', '3.basecampapi.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['box', 'api.box.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['canva', 'api.canva.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['clickup', 'api.clickup.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['digitalocean', 'api.digitalocean.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['discord', 'discord.com/api/v10/users/@me', 'Authorization: Bearer CNRYtoken'],
  ['dropbox', 'api.dropboxapi.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['figma', 'api.figma.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['github', 'api.github.com/user', 'Authorization: Bearer CNRYtoken'],
  ['gitlab', 'gitlab.com/api/v4/user', 'Authorization: Bearer CNRYtoken'],
  ['gmail', 'gmail.googleapis.com/gmail/v1/users/me/profile', 'Authorization: Bearer CNRYtoken'],
  ['google-calendar', 'www.googleapis.com/calendar/v3/users/me/calendarList', 'Authorization: Bearer CNRYtoken'],
  ['google-drive', 'www.googleapis.com/drive/v3/files', 'Authorization: Bearer CNRYtoken'],
  [
    'heroku',
    'api.heroku.com/account',
    'Authorization: Bearer CNRYtoken',
    'Accept: application/vnd.heroku+json; version=3 (if absent)',
  ],
  ['hubspot', 'api.hubapi.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['huggingface', 'huggingface.co/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['linear', 'api.linear.app/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['mcp-atlassian', 'mcp.atlassian.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-canva', 'mcp.canva.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-cloudflare-bindings', 'bindings.mcp.cloudflare.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-cloudflare-observability', 'observability.mcp.cloudflare.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-intercom', 'mcp.intercom.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-linear', 'mcp.linear.app/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-miro', 'mcp.miro.com/', 'Authorization: Bearer CNRYtoken'],
  ['mcp-monday', 'mcp.monday.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-neon', 'mcp.neon.tech/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-netlify', 'netlify-mcp.netlify.app/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-notion', 'mcp.notion.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-paypal', 'mcp.paypal.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-posthog', 'mcp.posthog.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-railway', 'mcp.railway.com/', 'Authorization: Bearer CNRYtoken'],
  ['mcp-sentry', 'mcp.sentry.dev/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-stripe', 'mcp.stripe.com/', 'Authorization: Bearer CNRYtoken'],
  ['mcp-supabase', 'mcp.supabase.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-todoist', 'ai.todoist.net/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-vercel', 'mcp.vercel.com/', 'Authorization: Bearer CNRYtoken'],
  ['mcp-webflow', 'mcp.webflow.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['microsoft', 'graph.microsoft.com/v1.0/me', 'Authorization: Bearer CNRYtoken'],
  ['notion', 'api.notion.com/v1/users/me', 'Authorization: Bearer CNRYtoken', 'Notion-Version: 2022-06-28 (if absent)'],
  ['okta', 'acme.okta.com/api/v1/users/me', 'Authorization: Bearer CNRYtoken'],
  ['pagerduty', 'api.pagerduty.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['pipedrive', 'acme.pipedrive.com/api/v2/deals', 'Authorization: Bearer CNRYtoken'],
  ['reddit', 'oauth.reddit.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['salesforce', 'acme.my.salesforce.com/services/data', 'Authorization: Bearer CNRYtoken'],
  ['sentry', 'us.sentry.io/api/0/projects/', 'Authorization: Bearer CNRYtoken'],
  ['spotify', 'api.spotify.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['square', 'connect.squareup.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['strava', 'www.strava.com/api/v3/athlete', 'Authorization: Bearer CNRYtoken'],
  ['supabase', 'api.supabase.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['todoist', 'api.todoist.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['twitch', 'api.twitch.tv/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['withings', 'wbsapi.withings.net/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['wrike', 'app-eu.wrike.com/api/v4/contacts', 'Authorization: Bearer CNRYtoken'],
  ['x', 'api.x.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['xero', 'api.xero.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['zendesk', 'acme.zendesk.com/api/v2/users/me.json', 'Authorization: Bearer CNRYtoken'],
  ['zoom', 'api.zoom.us/v1/me', 'Authorization: Bearer CNRYtoken'],
]

function sent({ definition }: Provider): readonly string[] {
  const fields = credentialFields(definition).map(({ name }) => [
    name,
    new Secret(name === 'api_key' ? 'CNRYkey' : `CNRY${name}`),
  ])
  return shown(injectionFor(definition, 'api_key', Object.fromEntries(fields)))
}

function sentWithToken({ definition }: Provider): readonly string[] {
  return shown(injectionFor(definition, 'oauth2', { access_token: new Secret('CNRYtoken') }))
}

function shown({ headers, ifAbsent, query }: ReturnType<typeof injectionFor>): readonly string[] {
  return [
    ...Object.entries(headers).map(
      ([name, value]) => `${name}: ${value.reveal()}${ifAbsent.includes(name) ? ' (if absent)' : ''}`,
    ),
    ...Object.entries(query).map(([name, value]) => `?${name}=${value.reveal()}`),
  ]
}

function match(request: string) {
  const slash = request.indexOf('/')
  return bundled.match({ host: request.slice(0, slash), port: 443, path: request.slice(slash) })
}

function named(which: (definition: Provider['definition']) => boolean): readonly string[] {
  return bundled.list().flatMap(({ definition }) => (which(definition) ? [definition.name] : []))
}

describe('the bundled providers', () => {
  it('all parse', () => {
    assert.deepEqual(bundled.health(), { issues: [], warnings: [] })
  })

  it('are those of the table below', () => {
    assert.deepEqual(
      named(({ api_key }) => api_key !== undefined),
      EXPECTED.map(([name]) => name),
    )
    assert.deepEqual(
      named(({ oauth }) => oauth !== undefined),
      EXPECTED_OF_TOKENS.map(([name]) => name),
    )
  })

  for (const [name, request, ...injected] of EXPECTED)
    it(`${name} sends what its documentation says`, () => {
      const found = match(request)
      assert.equal(found.kind, 'one')
      assert.equal(found.kind === 'one' && found.provider.definition.name, name)
      assert.deepEqual(found.kind === 'one' && sent(found.provider), injected)
    })

  for (const [name, request, ...injected] of EXPECTED_OF_TOKENS)
    it(`${name} sends its token as its documentation says`, () => {
      const found = match(request)
      assert.equal(found.kind === 'one' && found.provider.definition.name, name)
      assert.deepEqual(found.kind === 'one' && sentWithToken(found.provider), injected)
    })

  it('take only https for their endpoints, and ask for no secret where the client is public', () => {
    for (const { definition } of bundled.list()) {
      const { scopes: _, ...oauth } = definition.oauth ?? { scopes: [] }
      const urls = Object.entries(oauth).filter(([name]) => name.endsWith('_url') || name === 'issuer')
      for (const [name, url] of urls)
        assert.match(String(url), /^(?:https:|\{base_url\})\//, `${definition.name} ${name}`)
    }
  })

  for (const [name, request] of [...EXPECTED, ...EXPECTED_OF_TOKENS])
    it(`${name} sends nothing to a host that looks like its own`, () => {
      assert.equal(match(request.replace('/', '.evil.test/')).kind, 'none')
    })

  it('never tie', () => {
    const pairs = bundled.list().flatMap((one, index) =>
      bundled
        .list()
        .slice(index + 1)
        .map((other) => [one, other] as const),
    )
    const tied = pairs.filter(([one, other]) =>
      one.hosts.some((ours) => other.hosts.some((theirs) => tie(ours, theirs))),
    )
    assert.deepEqual(
      tied.map(([one, other]) => `${one.definition.name} ${other.definition.name}`),
      [],
    )
  })

  it('never want the same environment variable', () => {
    const variables = bundled.list().flatMap(({ definition }) => Object.keys(definition.env ?? {}))
    assert.deepEqual(variables, [...new Set(variables)])
  })

  it('accept the example of a key that they show', () => {
    for (const { definition } of bundled.list().filter(({ definition }) => definition.api_key?.example !== undefined))
      assert.ok(parseCredential(definition, { api_key: definition.api_key?.example ?? '' }), definition.name)
  })

  it('bind the credential of a tenant to that tenant', () => {
    const jira = bundled.find('jira')
    assert.ok(jira)
    const [host] = credentialHosts(jira.definition, 'https://acme.atlassian.net')
    assert.ok(host)
    assert.equal(formatHost(host), 'acme.atlassian.net')
    assert.equal(matchesHost(host.host, 'evil.atlassian.net'), false)
  })
})
