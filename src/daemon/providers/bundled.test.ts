import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type Place, toPlainWire } from '../../injection/index.ts'
import { authority, authorityOfUrl, formatPattern, matchesHost, tie } from '../../network/index.ts'
import { Secret, type SigningType, secretInput } from '../../protocol/index.ts'
import { credentialHosts } from './base-url.ts'
import { clientScopes, grantsToClients, hasKey } from './client-credentials.ts'
import { clientParty } from './client-party.ts'
import { credentialFields, parseCredential } from './credential.ts'
import { definitionFolder } from './custom-definitions.ts'
import { isOneFamily, isPartOf } from './family.ts'
import { injectionFor } from './injection.ts'
import { compileKeyPattern } from './key-pattern.ts'
import { openProviders } from './open-providers.ts'
import { ownPlaceFor, ownPlaces } from './own-places.ts'
import { parseBaseUrl } from './own-server.ts'
import type { Match, Provider } from './provider.ts'
import { CHECKED_DEFINITIONS } from './shipped-catalogue.ts'

const POST = 'client_secret_post'
const BASIC = 'client_secret_basic'
const bundledDir = join(import.meta.dirname, '../../../providers')
const bundled = openProviders({ bundledDir, custom: definitionFolder(join(bundledDir, 'none')) })

/** What each sends, written down from its documentation: the key is `CNRYkey`, any other field `CNRY` and its name. */
const EXPECTED: readonly (readonly [name: string, request: string, ...injected: string[]])[] = [
  ['302ai', 'api.302.ai/v1/models', 'Authorization: Bearer CNRYkey'],
  ['abuseipdb', 'api.abuseipdb.com/api/v2/check', 'Key: CNRYkey'],
  ['activecampaign', 'acme.api-us1.com/api/3/contacts', 'Api-Token: CNRYkey'],
  ['adyen', 'checkout-test.adyen.com/v71/payments', 'X-API-Key: CNRYkey'],
  ['affinity', 'api.affinity.co/v2/persons', 'Authorization: Bearer CNRYkey'],
  ['agentmail', 'api.agentmail.to/v0/inboxes', 'Authorization: Bearer CNRYkey'],
  ['ahrefs', 'api.ahrefs.com/v3/site-explorer/metrics', 'Authorization: Bearer CNRYkey'],
  ['ai21', 'api.ai21.com/studio/v1/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['aihubmix', 'aihubmix.com/v1/models', 'Authorization: Bearer CNRYkey'],
  ['aircall', 'api.aircall.io/v1/users', 'Authorization: Basic Q05SWWFwaV9pZDpDTlJZa2V5'],
  ['airtable', 'api.airtable.com/v0/app', 'Authorization: Bearer CNRYkey'],
  ['aiven', 'api.aiven.io/v1/project', 'Authorization: aivenv1 CNRYkey'],
  ['alchemy', 'eth-mainnet.g.alchemy.com/v2/broker-proxy-managed', '/v2/ → /v2/CNRYkey'],
  ['algolia', 'acme.algolia.net/1/indexes', 'X-Algolia-API-Key: CNRYkey', 'X-Algolia-Application-Id: CNRYapp_id'],
  ['alpaca', 'paper-api.alpaca.markets/v2/account', 'APCA-API-SECRET-KEY: CNRYkey', 'APCA-API-KEY-ID: CNRYkey_id'],
  ['alpha-vantage', 'www.alphavantage.co/query', '?apikey=CNRYkey'],
  ['amplitude', 'amplitude.com/api/2/export', 'Authorization: Basic Q05SWXByb2plY3Rfa2V5OkNOUllrZXk='],
  ['anthropic', 'api.anthropic.com/v1/messages', 'x-api-key: CNRYkey', 'anthropic-version: 2023-06-01 (if absent)'],
  [
    'anthropic-admin',
    'api.anthropic.com/v1/organizations/users',
    'x-api-key: CNRYkey',
    'anthropic-version: 2023-06-01 (if absent)',
  ],
  ['api-ninjas', 'api.api-ninjas.com/v1/facts', 'X-Api-Key: CNRYkey'],
  ['apify', 'api.apify.com/v2/users/me', 'Authorization: Bearer CNRYkey'],
  ['apollo', 'api.apollo.io/api/v1/people/match', 'x-api-key: CNRYkey'],
  ['arcade', 'api.arcade.dev/v1/tools', 'Authorization: Bearer CNRYkey'],
  ['asana', 'app.asana.com/api/1.0/users/me', 'Authorization: Bearer CNRYkey'],
  ['ashby', 'api.ashbyhq.com/candidate.list', 'Authorization: Basic Q05SWWtleTo='],
  ['assemblyai', 'api.assemblyai.com/v2/transcript', 'Authorization: CNRYkey'],
  ['atlassian', 'api.atlassian.com/ex/jira/x/rest/api/3/myself', 'Authorization: Basic Q05SWWVtYWlsOkNOUllrZXk='],
  ['attio', 'api.attio.com/v2/self', 'Authorization: Bearer CNRYkey'],
  ['aws-bedrock', 'bedrock-runtime.us-east-1.amazonaws.com/model/x/converse', 'Authorization: Bearer CNRYkey'],
  ['axiom', 'api.axiom.co/v2/datasets', 'Authorization: Bearer CNRYkey'],
  ['azure-ai-foundry', 'acme.services.ai.azure.com/models/chat/completions', 'api-key: CNRYkey'],
  [
    'azure-ai-services',
    'acme.cognitiveservices.azure.com/language/:analyze-text',
    'Ocp-Apim-Subscription-Key: CNRYkey',
    'api-key: CNRYkey',
  ],
  ['azure-devops', 'dev.azure.com/acme/_apis/projects', 'Authorization: Basic OkNOUllrZXk='],
  ['azure-openai', 'acme.openai.azure.com/openai/v1/models', 'api-key: CNRYkey'],
  ['baidu-qianfan', 'qianfan.baidubce.com/v2/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['bamboohr', 'acme.bamboohr.com/api/v1/employees/directory', 'Authorization: Basic Q05SWWtleTp4'],
  ['baserow', 'api.baserow.io/api/database/rows/table/1/', 'Authorization: Token CNRYkey'],
  ['baseten', 'api.baseten.co/v1/models', 'Authorization: Api-Key CNRYkey'],
  ['beehiiv', 'api.beehiiv.com/v2/publications', 'Authorization: Bearer CNRYkey'],
  ['better-stack', 'uptime.betterstack.com/api/v2/monitors', 'Authorization: Bearer CNRYkey'],
  ['bigcommerce', 'api.bigcommerce.com/stores/acme/v3/catalog/products', 'X-Auth-Token: CNRYkey'],
  ['bitbucket', 'api.bitbucket.org/2.0/repositories/acme', 'Authorization: Basic Q05SWWVtYWlsOkNOUllrZXk='],
  ['bitly', 'api-ssl.bitly.com/v4/user', 'Authorization: Bearer CNRYkey'],
  ['black-forest-labs', 'api.bfl.ai/v1/flux-pro-1.1', 'x-key: CNRYkey'],
  ['bland-ai', 'api.bland.ai/v1/calls', 'Authorization: CNRYkey'],
  ['braintree', 'payments.braintree-api.com/graphql', 'Authorization: Basic Q05SWXB1YmxpY19rZXk6Q05SWWtleQ=='],
  ['braintrust', 'api.braintrust.dev/v1/project', 'Authorization: Bearer CNRYkey'],
  ['brave-search', 'api.search.brave.com/res/v1/web/search', 'X-Subscription-Token: CNRYkey'],
  ['braze', 'rest.iad-01.braze.com/users/track', 'Authorization: Bearer CNRYkey'],
  ['brevo', 'api.brevo.com/v3/account', 'api-key: CNRYkey'],
  ['brex', 'platform.brexapis.com/v2/users/me', 'Authorization: Bearer CNRYkey'],
  ['brightdata', 'api.brightdata.com/request', 'Authorization: Bearer CNRYkey'],
  ['browser-use', 'api.browser-use.com/api/v2/tasks', 'X-Browser-Use-API-Key: CNRYkey'],
  ['browserbase', 'api.browserbase.com/v1/sessions', 'X-BB-API-Key: CNRYkey'],
  ['browserless', 'production-sfo.browserless.io/content', '?token=CNRYkey'],
  ['browserstack', 'api.browserstack.com/automate/plan.json', 'Authorization: Basic Q05SWXVzZXJuYW1lOkNOUllrZXk='],
  ['buffer', 'api.buffer.com/graphql', 'Authorization: Bearer CNRYkey'],
  ['bugsnag', 'api.bugsnag.com/user/organizations', 'Authorization: token CNRYkey'],
  ['buildkite', 'api.buildkite.com/v2/user', 'Authorization: Bearer CNRYkey'],
  ['builtwith', 'api.builtwith.com/v22/api.json', '?KEY=CNRYkey'],
  ['bunny', 'api.bunny.net/pullzone', 'AccessKey: CNRYkey'],
  ['cal-com', 'api.cal.com/v2/me', 'Authorization: Bearer CNRYkey'],
  ['calendly', 'api.calendly.com/users/me', 'Authorization: Bearer CNRYkey'],
  ['callrail', 'api.callrail.com/v3/a.json', 'Authorization: Token token=CNRYkey'],
  ['cartesia', 'api.cartesia.ai/tts/bytes', 'X-API-Key: CNRYkey', 'Cartesia-Version: 2024-06-10 (if absent)'],
  ['cerebras', 'api.cerebras.ai/v1/models', 'Authorization: Bearer CNRYkey'],
  ['chargebee', 'acme.chargebee.com/api/v2/customers', 'Authorization: Basic Q05SWWtleTo='],
  ['chatwoot', 'app.chatwoot.com/api/v1/profile', 'api_access_token: CNRYkey'],
  ['checkly', 'api.checklyhq.com/v1/checks', 'Authorization: Bearer CNRYkey', 'X-Checkly-Account: CNRYaccount_id'],
  ['checkout-com', 'api.checkout.com/payments', 'Authorization: Bearer CNRYkey'],
  ['chroma', 'api.trychroma.com/api/v2/auth/identity', 'x-chroma-token: CNRYkey'],
  ['chutes', 'llm.chutes.ai/v1/models', 'Authorization: Bearer CNRYkey'],
  ['circleci', 'circleci.com/api/v2/me', 'Circle-Token: CNRYkey', 'Authorization: Bearer CNRYkey'],
  ['clarifai', 'api.clarifai.com/v2/models', 'Authorization: Key CNRYkey'],
  ['clerk', 'api.clerk.com/v1/users', 'Authorization: Bearer CNRYkey'],
  ['clickhouse-cloud', 'api.clickhouse.cloud/v1/organizations', 'Authorization: Basic Q05SWWtleV9pZDpDTlJZa2V5'],
  ['clickup', 'api.clickup.com/api/v2/user', 'Authorization: CNRYkey'],
  ['clockify', 'api.clockify.me/api/v1/user', 'X-Api-Key: CNRYkey'],
  ['close', 'api.close.com/api/v1/me/', 'Authorization: Basic Q05SWWtleTo='],
  ['cloudflare', 'api.cloudflare.com/client/v4/zones', 'Authorization: Bearer CNRYkey'],
  ['cloudinary', 'api.cloudinary.com/v1_1/acme/resources/image', 'Authorization: Basic Q05SWWNsb3VkX2tleTpDTlJZa2V5'],
  ['cloudsmith', 'api.cloudsmith.io/v1/user/self/', 'X-Api-Key: CNRYkey'],
  ['coda', 'coda.io/apis/v1/whoami', 'Authorization: Bearer CNRYkey'],
  ['codacy', 'app.codacy.com/api/v3/user', 'api-token: CNRYkey'],
  ['codecov', 'api.codecov.io/api/v2/github/acme/', 'Authorization: Bearer CNRYkey'],
  ['cohere', 'api.cohere.com/v2/chat', 'Authorization: Bearer CNRYkey'],
  ['coingecko', 'pro-api.coingecko.com/api/v3/ping', 'x-cg-pro-api-key: CNRYkey'],
  ['coingecko-demo', 'api.coingecko.com/api/v3/ping', 'x-cg-demo-api-key: CNRYkey'],
  ['coinmarketcap', 'pro-api.coinmarketcap.com/v1/key/info', 'X-CMC_PRO_API_KEY: CNRYkey'],
  ['composio', 'backend.composio.dev/api/v3/toolkits', 'x-api-key: CNRYkey'],
  ['confluent', 'api.confluent.cloud/iam/v2/users', 'Authorization: Basic Q05SWWtleV9pZDpDTlJZa2V5'],
  ['contentful', 'api.contentful.com/spaces', 'Authorization: Bearer CNRYkey'],
  ['context7', 'mcp.context7.com/mcp', 'Authorization: Bearer CNRYkey'],
  ['convertkit', 'api.kit.com/v4/account', 'X-Kit-Api-Key: CNRYkey'],
  ['convex', 'acme.convex.cloud/api/query', 'Authorization: Convex CNRYkey'],
  [
    'copper',
    'api.copper.com/developer_api/v1/account',
    'X-PW-AccessToken: CNRYkey',
    'X-PW-UserEmail: CNRYemail',
    'X-PW-Application: developer_api (if absent)',
  ],
  ['crates-io', 'crates.io/api/v1/crates/new', 'Authorization: CNRYkey'],
  [
    'crisp',
    'api.crisp.chat/v1/website/x',
    'Authorization: Basic Q05SWWlkZW50aWZpZXI6Q05SWWtleQ==',
    'X-Crisp-Tier: plugin (if absent)',
  ],
  ['crowdin', 'api.crowdin.com/api/v2/user', 'Authorization: Bearer CNRYkey'],
  ['crunchbase', 'api.crunchbase.com/api/v4/entities/organizations/x', 'X-cb-user-key: CNRYkey'],
  ['cursor', 'api.cursor.com/v0/me', 'Authorization: Bearer CNRYkey'],
  ['cursor-admin', 'api.cursor.com/teams/members', 'Authorization: Basic Q05SWWtleTo='],
  ['customer-io', 'api.customer.io/v1/campaigns', 'Authorization: Bearer CNRYkey'],
  ['d-id', 'api.d-id.com/talks', 'Authorization: Basic CNRYkey'],
  ['dashscope', 'dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['databricks', 'acme.cloud.databricks.com/api/2.0/clusters/list', 'Authorization: Bearer CNRYkey'],
  ['datadog', 'api.us5.datadoghq.com/api/v1/query', 'DD-API-KEY: CNRYkey', 'DD-APPLICATION-KEY: CNRYapp_key'],
  ['dataforseo', 'api.dataforseo.com/v3/appendix/user_data', 'Authorization: Basic Q05SWWxvZ2luOkNOUllrZXk='],
  ['daytona', 'app.daytona.io/api/sandbox', 'Authorization: Bearer CNRYkey'],
  ['deel', 'api.letsdeel.com/rest/v2/people', 'Authorization: Bearer CNRYkey'],
  ['deepgram', 'api.deepgram.com/v1/listen', 'Authorization: Token CNRYkey'],
  ['deepinfra', 'api.deepinfra.com/v1/openai/models', 'Authorization: Bearer CNRYkey'],
  ['deepl', 'api-free.deepl.com/v2/translate', 'Authorization: DeepL-Auth-Key CNRYkey'],
  ['deepseek', 'api.deepseek.com/models', 'Authorization: Bearer CNRYkey', 'x-api-key: CNRYkey'],
  ['deno-deploy', 'api.deno.com/v1/organizations/x', 'Authorization: Bearer CNRYkey'],
  ['devin', 'api.devin.ai/v1/sessions', 'Authorization: Bearer CNRYkey'],
  ['devto', 'dev.to/api/users/me', 'api-key: CNRYkey'],
  ['diffbot', 'api.diffbot.com/v3/article', '?token=CNRYkey'],
  ['dify', 'api.dify.ai/v1/chat-messages', 'Authorization: Bearer CNRYkey'],
  ['digitalocean', 'api.digitalocean.com/v2/account', 'Authorization: Bearer CNRYkey'],
  ['discord', 'discord.com/api/v10/users/@me', 'Authorization: Bot CNRYkey'],
  ['dnsimple', 'api.dnsimple.com/v2/whoami', 'Authorization: Bearer CNRYkey'],
  ['docker-hub', 'auth.docker.io/token', 'Authorization: Basic Q05SWXVzZXJuYW1lOkNOUllrZXk='],
  ['dodo-payments', 'live.dodopayments.com/payments', 'Authorization: Bearer CNRYkey'],
  ['doppler', 'api.doppler.com/v3/me', 'Authorization: Bearer CNRYkey'],
  ['drata', 'public-api.drata.com/public/controls', 'Authorization: Bearer CNRYkey'],
  ['dropbox-sign', 'api.hellosign.com/v3/account', 'Authorization: Basic Q05SWWtleTo='],
  ['dub', 'api.dub.co/links', 'Authorization: Bearer CNRYkey'],
  ['duffel', 'api.duffel.com/air/airlines', 'Authorization: Bearer CNRYkey', 'Duffel-Version: v2 (if absent)'],
  ['dynatrace', 'acme.live.dynatrace.com/api/v2/metrics', 'Authorization: Api-Token CNRYkey'],
  ['e2b', 'api.e2b.app/sandboxes', 'X-API-Key: CNRYkey'],
  ['easypost', 'api.easypost.com/v2/shipments', 'Authorization: Basic Q05SWWtleTo='],
  ['elasticsearch', 'acme.es.us-central1.gcp.elastic-cloud.com/_search', 'Authorization: ApiKey CNRYkey'],
  ['elevenlabs', 'api.elevenlabs.io/v1/voices', 'xi-api-key: CNRYkey'],
  ['etherscan', 'api.etherscan.io/v2/api', '?apikey=CNRYkey'],
  ['eventbrite', 'www.eventbriteapi.com/v3/users/me/', 'Authorization: Bearer CNRYkey'],
  ['exa', 'api.exa.ai/search', 'x-api-key: CNRYkey'],
  ['explorium', 'api.explorium.ai/v1/businesses/match', 'api_key: CNRYkey'],
  ['expo', 'api.expo.dev/graphql', 'Authorization: Bearer CNRYkey'],
  ['facebook', 'graph.facebook.com/v22.0/me', 'Authorization: Bearer CNRYkey'],
  ['fal', 'queue.fal.run/fal-ai/flux', 'Authorization: Key CNRYkey'],
  ['fastly', 'api.fastly.com/service', 'Fastly-Key: CNRYkey'],
  ['fathom', 'api.fathom.ai/external/v1/meetings', 'X-Api-Key: CNRYkey'],
  ['featherless', 'api.featherless.ai/v1/models', 'Authorization: Bearer CNRYkey'],
  ['figma', 'api.figma.com/v1/me', 'X-Figma-Token: CNRYkey'],
  ['financial-datasets', 'api.financialdatasets.ai/prices/', 'X-API-KEY: CNRYkey'],
  ['financial-modeling-prep', 'financialmodelingprep.com/stable/quote', '?apikey=CNRYkey'],
  ['finnhub', 'finnhub.io/api/v1/quote', '?token=CNRYkey'],
  ['firecrawl', 'api.firecrawl.dev/v1/scrape', 'Authorization: Bearer CNRYkey'],
  ['fireflies', 'api.fireflies.ai/graphql', 'Authorization: Bearer CNRYkey'],
  ['fireworks', 'api.fireworks.ai/inference/v1/models', 'Authorization: Bearer CNRYkey'],
  ['fish-audio', 'api.fish.audio/v1/tts', 'Authorization: Bearer CNRYkey'],
  ['flutterwave', 'api.flutterwave.com/v3/transactions', 'Authorization: Bearer CNRYkey'],
  ['fly-io', 'api.machines.dev/v1/apps', 'Authorization: Bearer CNRYkey'],
  ['folk', 'api.folk.app/v1/people', 'Authorization: Bearer CNRYkey'],
  ['forgejo', 'codeberg.org/api/v1/user', 'Authorization: token CNRYkey'],
  [
    'foursquare',
    'places-api.foursquare.com/places/search',
    'Authorization: Bearer CNRYkey',
    'X-Places-Api-Version: 2025-06-17 (if absent)',
    'X-Users-Api-Version: 2025-06-17 (if absent)',
  ],
  ['fred', 'api.stlouisfed.org/fred/series', '?api_key=CNRYkey'],
  ['freepik', 'api.freepik.com/v1/resources', 'x-freepik-api-key: CNRYkey'],
  ['freshdesk', 'acme.freshdesk.com/api/v2/tickets', 'Authorization: Basic Q05SWWtleTpY'],
  ['freshsales', 'acme.myfreshworks.com/crm/sales/api/contacts/1', 'Authorization: Token token=CNRYkey'],
  ['freshservice', 'acme.freshservice.com/api/v2/tickets', 'Authorization: Basic Q05SWWtleTpY'],
  ['friendli', 'api.friendli.ai/serverless/v1/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['front', 'api2.frontapp.com/me', 'Authorization: Bearer CNRYkey'],
  ['gamma', 'public-api.gamma.app/v1.0/generations', 'x-api-key: CNRYkey'],
  ['genius', 'api.genius.com/search', 'Authorization: Bearer CNRYkey'],
  ['geoapify', 'api.geoapify.com/v1/geocode/search', '?apiKey=CNRYkey'],
  ['giphy', 'api.giphy.com/v1/gifs/search', '?api_key=CNRYkey'],
  ['gitea', 'gitea.com/api/v1/user', 'Authorization: token CNRYkey'],
  ['github', 'api.github.com/user', 'Authorization: Bearer CNRYkey'],
  ['github-packages', 'npm.pkg.github.com/@acme%2ftools', 'Authorization: Bearer CNRYkey'],
  ['gitlab', 'gitlab.com/api/v4/user', 'PRIVATE-TOKEN: CNRYkey'],
  ['gladia', 'api.gladia.io/v2/pre-recorded', 'x-gladia-key: CNRYkey'],
  ['gmicloud', 'api.gmi-serving.com/v1/models', 'Authorization: Bearer CNRYkey'],
  [
    'gocardless',
    'api.gocardless.com/customers',
    'Authorization: Bearer CNRYkey',
    'GoCardless-Version: 2015-07-06 (if absent)',
  ],
  ['godaddy', 'api.godaddy.com/v1/domains', 'Authorization: sso-key CNRYkey:CNRYkey'],
  ['gong', 'api.gong.io/v2/users', 'Authorization: Basic Q05SWWFjY2Vzc19rZXk6Q05SWWtleQ=='],
  ['google-custom-search', 'www.googleapis.com/customsearch/v1/siterestrict', '?key=CNRYkey'],
  ['google-gemini', 'generativelanguage.googleapis.com/v1beta/models', 'x-goog-api-key: CNRYkey'],
  ['google-maps', 'maps.googleapis.com/maps/api/geocode/json', 'X-Goog-Api-Key: CNRYkey', '?key=CNRYkey'],
  ['gorgias', 'acme.gorgias.com/api/account', 'Authorization: Basic Q05SWWVtYWlsOkNOUllrZXk='],
  ['grafana', 'acme.grafana.net/api/dashboards/home', 'Authorization: Bearer CNRYkey'],
  ['granola', 'public-api.granola.ai/v1/notes', 'Authorization: Bearer CNRYkey'],
  ['grist', 'docs.getgrist.com/api/orgs', 'Authorization: Bearer CNRYkey'],
  ['groq', 'api.groq.com/openai/v1/models', 'Authorization: Bearer CNRYkey'],
  ['guardian', 'content.guardianapis.com/search', '?api-key=CNRYkey'],
  ['gumroad', 'api.gumroad.com/v2/user', 'Authorization: Bearer CNRYkey'],
  ['harness', 'app.harness.io/ng/api/projects', 'x-api-key: CNRYkey'],
  ['harvest', 'api.harvestapp.com/v2/users/me', 'Authorization: Bearer CNRYkey', 'Harvest-Account-Id: CNRYaccount_id'],
  ['hashnode', 'gql-beta.hashnode.com/', 'Authorization: Bearer CNRYkey'],
  ['helicone', 'ai-gateway.helicone.ai/v1/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['helius', 'mainnet.helius-rpc.com/', '?api-key=CNRYkey'],
  ['helpscout-docs', 'docsapi.helpscout.net/v1/collections', 'Authorization: Basic Q05SWWtleTpY'],
  [
    'heroku',
    'api.heroku.com/account',
    'Authorization: Bearer CNRYkey',
    'Accept: application/vnd.heroku+json; version=3 (if absent)',
  ],
  ['hetzner', 'api.hetzner.cloud/v1/servers', 'Authorization: Bearer CNRYkey'],
  ['heygen', 'api.heygen.com/v2/avatars', 'X-Api-Key: CNRYkey'],
  [
    'highlevel',
    'services.leadconnectorhq.com/contacts/',
    'Authorization: Bearer CNRYkey',
    'Version: 2021-07-28 (if absent)',
  ],
  ['honeycomb', 'api.honeycomb.io/1/auth', 'X-Honeycomb-Team: CNRYkey'],
  ['htmlcsstoimage', 'hcti.io/v1/image', 'Authorization: Basic Q05SWXVzZXJfaWQ6Q05SWWtleQ=='],
  ['hubspot', 'api.hubapi.com/crm/v3/objects/contacts', 'Authorization: Bearer CNRYkey'],
  ['huggingface', 'router.huggingface.co/v1/models', 'Authorization: Bearer CNRYkey'],
  ['hume', 'api.hume.ai/v0/tts', 'X-Hume-Api-Key: CNRYkey'],
  ['hunter', 'api.hunter.io/v2/account', '?api_key=CNRYkey'],
  ['hyperbolic', 'api.hyperbolic.xyz/v1/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['hyperbrowser', 'api.hyperbrowser.ai/api/session', 'x-api-key: CNRYkey'],
  ['ideogram', 'api.ideogram.ai/v1/ideogram-v3/generate', 'Api-Key: CNRYkey'],
  ['imgur', 'api.imgur.com/3/image', 'Authorization: Client-ID CNRYkey'],
  ['inception', 'api.inceptionlabs.ai/v1/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['incident-io', 'api.incident.io/v2/incidents', 'Authorization: Bearer CNRYkey'],
  ['inference-net', 'api.inference.net/v1/models', 'Authorization: Bearer CNRYkey'],
  ['infisical', 'app.infisical.com/api/v3/secrets/raw', 'Authorization: Bearer CNRYkey'],
  ['infura', 'mainnet.infura.io/v3/broker-proxy-managed', '/v3/ → /v3/CNRYkey'],
  ['instantly', 'api.instantly.ai/api/v2/campaigns', 'Authorization: Bearer CNRYkey'],
  ['intercom', 'api.intercom.io/me', 'Authorization: Bearer CNRYkey'],
  ['io-net', 'api.intelligence.io.solutions/api/v1/models', 'Authorization: Bearer CNRYkey'],
  ['ipinfo', 'api.ipinfo.io/lite/me', 'Authorization: Bearer CNRYkey'],
  ['ipstack', 'api.ipstack.com/check', '?access_key=CNRYkey'],
  ['jfrog', 'acme.jfrog.io/artifactory/api/system/ping', 'Authorization: Bearer CNRYkey'],
  ['jina', 'api.jina.ai/v1/embeddings', 'Authorization: Bearer CNRYkey'],
  ['jira', 'acme.atlassian.net/rest/api/3/myself', 'Authorization: Basic Q05SWWVtYWlsOkNOUllrZXk='],
  ['jotform', 'api.jotform.com/user', 'APIKEY: CNRYkey'],
  ['jumpcloud', 'console.jumpcloud.com/api/systemusers', 'x-api-key: CNRYkey'],
  ['kagi', 'kagi.com/api/v1/search', 'Authorization: Bearer CNRYkey'],
  ['kilo', 'api.kilo.ai/api/gateway/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['kimi-coding', 'api.kimi.com/coding/v1/chat/completions', 'Authorization: Bearer CNRYkey'],
  [
    'klaviyo',
    'a.klaviyo.com/api/accounts',
    'Authorization: Klaviyo-API-Key CNRYkey',
    'revision: 2026-07-15 (if absent)',
  ],
  ['kommo', 'acme.kommo.com/api/v4/account', 'Authorization: Bearer CNRYkey'],
  ['koyeb', 'app.koyeb.com/v1/apps', 'Authorization: Bearer CNRYkey'],
  ['langfuse', 'cloud.langfuse.com/api/public/traces', 'Authorization: Basic Q05SWXB1YmxpY19rZXk6Q05SWWtleQ=='],
  ['langsmith', 'api.smith.langchain.com/api/v1/sessions', 'x-api-key: CNRYkey'],
  ['lastfm', 'ws.audioscrobbler.com/2.0/', '?api_key=CNRYkey'],
  ['launchdarkly', 'app.launchdarkly.com/api/v2/projects', 'Authorization: CNRYkey'],
  ['lemlist', 'api.lemlist.com/api/team', 'Authorization: Basic OkNOUllrZXk='],
  ['lemon-squeezy', 'api.lemonsqueezy.com/v1/users/me', 'Authorization: Bearer CNRYkey'],
  ['lever', 'api.lever.co/v1/opportunities', 'Authorization: Basic Q05SWWtleTo='],
  ['lichess', 'lichess.org/api/account', 'Authorization: Bearer CNRYkey'],
  ['line', 'api.line.me/v2/bot/info', 'Authorization: Bearer CNRYkey'],
  ['linear', 'api.linear.app/graphql', 'Authorization: CNRYkey'],
  ['linkup', 'api.linkup.so/v1/search', 'Authorization: Bearer CNRYkey'],
  ['linode', 'api.linode.com/v4/profile', 'Authorization: Bearer CNRYkey'],
  ['livestorm', 'api.livestorm.co/v1/ping', 'Authorization: CNRYkey'],
  ['llamacloud', 'api.cloud.llamaindex.ai/api/v1/projects', 'Authorization: Bearer CNRYkey'],
  ['lmnt', 'api.lmnt.com/v1/account', 'X-API-Key: CNRYkey'],
  ['lob', 'api.lob.com/v1/addresses', 'Authorization: Basic Q05SWWtleTo='],
  ['lokalise', 'api.lokalise.com/api2/projects', 'X-Api-Token: CNRYkey'],
  ['loops', 'app.loops.so/api/v1/api-key', 'Authorization: Bearer CNRYkey'],
  ['luma-agents', 'agents.lumalabs.ai/v1/generations', 'Authorization: Bearer CNRYkey'],
  ['luma-ai', 'api.lumalabs.ai/dream-machine/v1/generations', 'Authorization: Bearer CNRYkey'],
  ['mailchimp', 'us21.api.mailchimp.com/3.0/ping', 'Authorization: Basic YW55c3RyaW5nOkNOUllrZXk='],
  ['mailerlite', 'connect.mailerlite.com/api/subscribers', 'Authorization: Bearer CNRYkey'],
  ['mailersend', 'api.mailersend.com/v1/email', 'Authorization: Bearer CNRYkey'],
  ['mailgun', 'api.eu.mailgun.net/v3/domains', 'Authorization: Basic YXBpOkNOUllrZXk='],
  ['mailjet', 'api.mailjet.com/v3.1/send', 'Authorization: Basic Q05SWWNvbnN1bWVyX2lkOkNOUllrZXk='],
  ['mailsac', 'mailsac.com/api/me', 'Mailsac-Key: CNRYkey'],
  ['mailtrap', 'send.api.mailtrap.io/api/send', 'Authorization: Bearer CNRYkey'],
  ['make', 'eu1.make.com/api/v2/users/me', 'Authorization: Token CNRYkey'],
  ['mapbox', 'api.mapbox.com/tokens/v2', '?access_token=CNRYkey'],
  ['mathpix', 'api.mathpix.com/v3/text', 'app_key: CNRYkey', 'app_id: CNRYapp_id'],
  ['mcp-cloudflare', 'mcp.cloudflare.com/mcp', 'Authorization: Bearer CNRYkey'],
  ['mcp-firecrawl', 'mcp.firecrawl.dev/v2/mcp', 'Authorization: Bearer CNRYkey'],
  ['mcp-github', 'api.githubcopilot.com/mcp/', 'Authorization: Bearer CNRYkey'],
  ['mcp-monday', 'mcp.monday.com/mcp', 'Authorization: Bearer CNRYkey'],
  ['mcp-neon', 'mcp.neon.tech/mcp', 'Authorization: Bearer CNRYkey'],
  ['mcp-posthog', 'mcp.posthog.com/mcp', 'Authorization: Bearer CNRYkey'],
  ['mcp-render', 'mcp.render.com/mcp', 'Authorization: Bearer CNRYkey'],
  ['mcp-sanity', 'mcp.sanity.io/', 'Authorization: Bearer CNRYkey'],
  ['meilisearch', 'ms-1.lon.meilisearch.io/indexes', 'Authorization: Bearer CNRYkey'],
  ['mem0', 'api.mem0.ai/v1/memories/', 'Authorization: Token CNRYkey'],
  ['mercadopago', 'api.mercadopago.com/users/me', 'Authorization: Bearer CNRYkey'],
  ['mercury', 'api.mercury.com/api/v1/accounts', 'Authorization: Bearer CNRYkey'],
  ['messagebird', 'rest.messagebird.com/balance', 'Authorization: AccessKey CNRYkey'],
  ['meta-llama', 'api.llama.com/v1/models', 'Authorization: Bearer CNRYkey'],
  ['minimax', 'api.minimax.io/v1/text/chatcompletion_v2', 'Authorization: Bearer CNRYkey'],
  ['miro', 'api.miro.com/v2/boards', 'Authorization: Bearer CNRYkey'],
  ['mistral', 'api.mistral.ai/v1/models', 'Authorization: Bearer CNRYkey'],
  ['mixpanel', 'mixpanel.com/api/app/me', 'Authorization: Basic Q05SWXVzZXJuYW1lOkNOUllrZXk='],
  ['modelscope', 'api-inference.modelscope.cn/v1/models', 'Authorization: Bearer CNRYkey'],
  ['mollie', 'api.mollie.com/v2/payments', 'Authorization: Bearer CNRYkey'],
  ['monday', 'api.monday.com/v2', 'Authorization: CNRYkey'],
  ['moonshot', 'api.moonshot.ai/v1/models', 'Authorization: Bearer CNRYkey'],
  ['moralis', 'deep-index.moralis.io/api/v2.2/web3/version', 'X-API-Key: CNRYkey'],
  ['morph', 'api.morphllm.com/v1/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['mux', 'api.mux.com/video/v1/assets', 'Authorization: Basic Q05SWXRva2VuX2lkOkNOUllrZXk='],
  ['n8n', 'acme.app.n8n.cloud/api/v1/workflows', 'X-N8N-API-KEY: CNRYkey'],
  ['nano-gpt', 'nano-gpt.com/api/v1/models', 'Authorization: Bearer CNRYkey'],
  ['nasa', 'api.nasa.gov/planetary/apod', '?api_key=CNRYkey'],
  ['ncbi', 'eutils.ncbi.nlm.nih.gov/entrez/eutils/esearch.fcgi', '?api_key=CNRYkey'],
  ['nebius', 'api.tokenfactory.nebius.com/v1/models', 'Authorization: Bearer CNRYkey'],
  ['neon', 'console.neon.tech/api/v2/projects', 'Authorization: Bearer CNRYkey'],
  ['netlify', 'api.netlify.com/api/v1/sites', 'Authorization: Bearer CNRYkey'],
  ['new-relic', 'api.eu.newrelic.com/graphql', 'API-Key: CNRYkey'],
  ['newsapi', 'newsapi.org/v2/top-headlines', 'X-Api-Key: CNRYkey'],
  ['ngrok', 'api.ngrok.com/endpoints', 'Authorization: Bearer CNRYkey', 'ngrok-version: 2 (if absent)'],
  ['nomic', 'api-atlas.nomic.ai/v1/embedding/text', 'Authorization: Bearer CNRYkey'],
  ['notion', 'api.notion.com/v1/users/me', 'Authorization: Bearer CNRYkey', 'Notion-Version: 2022-06-28 (if absent)'],
  ['novita', 'api.novita.ai/openai/v1/models', 'Authorization: Bearer CNRYkey'],
  ['npm', 'registry.npmjs.org/-/whoami', 'Authorization: Bearer CNRYkey'],
  ['nuget', 'www.nuget.org/api/v2/package', 'X-NuGet-ApiKey: CNRYkey'],
  ['nvidia', 'integrate.api.nvidia.com/v1/models', 'Authorization: Bearer CNRYkey'],
  ['nytimes', 'api.nytimes.com/svc/search/v2/articlesearch.json', '?api-key=CNRYkey'],
  ['octopus-deploy', 'acme.octopus.app/api/users/me', 'X-Octopus-ApiKey: CNRYkey'],
  ['okta', 'acme.okta.com/api/v1/users/me', 'Authorization: SSWS CNRYkey'],
  ['ollama-cloud', 'ollama.com/api/chat', 'Authorization: Bearer CNRYkey'],
  ['omdb', 'www.omdbapi.com/', '?apikey=CNRYkey'],
  ['onesignal', 'api.onesignal.com/notifications', 'Authorization: Key CNRYkey'],
  ['openai', 'api.openai.com/v1/models', 'Authorization: Bearer CNRYkey'],
  ['openai-admin', 'api.openai.com/v1/organization/users', 'Authorization: Bearer CNRYkey'],
  ['opencage', 'api.opencagedata.com/geocode/v1/json', '?key=CNRYkey'],
  [
    'opencode-zen',
    'opencode.ai/zen/v1/models',
    'Authorization: Bearer CNRYkey',
    'x-api-key: CNRYkey',
    'x-goog-api-key: CNRYkey',
  ],
  ['openrouter', 'openrouter.ai/api/v1/models', 'Authorization: Bearer CNRYkey'],
  ['openweather', 'api.openweathermap.org/data/2.5/weather', '?appid=CNRYkey'],
  ['opsgenie', 'api.eu.opsgenie.com/v2/alerts', 'Authorization: GenieKey CNRYkey'],
  ['optimizely', 'api.optimizely.com/v2/projects', 'Authorization: Bearer CNRYkey'],
  ['outscraper', 'api.app.outscraper.com/profile/balance', 'X-API-KEY: CNRYkey'],
  ['ovh-ai-endpoints', 'oai.endpoints.kepler.ai.cloud.ovh.net/v1/models', 'Authorization: Bearer CNRYkey'],
  ['oxylabs', 'realtime.oxylabs.io/v1/queries', 'Authorization: Basic Q05SWXVzZXJuYW1lOkNOUllrZXk='],
  ['packagecloud', 'packagecloud.io/api/v1/repos.json', 'Authorization: Basic Q05SWWtleTo='],
  ['paddle', 'api.paddle.com/products', 'Authorization: Bearer CNRYkey'],
  ['pagerduty', 'api.pagerduty.com/users/me', 'Authorization: Token token=CNRYkey'],
  ['pandadoc', 'api.pandadoc.com/public/v1/documents', 'Authorization: API-Key CNRYkey'],
  ['parallel', 'api.parallel.ai/v1/tasks/runs', 'x-api-key: CNRYkey'],
  ['paystack', 'api.paystack.co/transaction', 'Authorization: Bearer CNRYkey'],
  ['people-data-labs', 'api.peopledatalabs.com/v5/person/enrich', 'X-Api-Key: CNRYkey'],
  ['perplexity', 'api.perplexity.ai/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['pexels', 'api.pexels.com/v1/search', 'Authorization: CNRYkey'],
  ['photoroom', 'image-api.photoroom.com/v2/edit', 'x-api-key: CNRYkey'],
  ['pinecone', 'api.pinecone.io/indexes', 'Api-Key: CNRYkey'],
  ['pipedrive', 'api.pipedrive.com/api/v2/deals', 'x-api-token: CNRYkey'],
  ['pixabay', 'pixabay.com/api/videos/', '?key=CNRYkey'],
  ['plaid', 'production.plaid.com/accounts/get', 'PLAID-SECRET: CNRYkey', 'PLAID-CLIENT-ID: CNRYclient_id'],
  ['plain', 'core-api.uk.plain.com/graphql/v1', 'Authorization: Bearer CNRYkey'],
  ['plane', 'api.plane.so/api/v1/users/me/', 'X-API-Key: CNRYkey'],
  ['planetscale', 'api.planetscale.com/v1/organizations', 'Authorization: CNRYtoken_id:CNRYkey'],
  ['plausible', 'plausible.io/api/v2/query', 'Authorization: Bearer CNRYkey'],
  ['plivo', 'api.plivo.com/v1/Account/', 'Authorization: Basic Q05SWWF1dGhfaWQ6Q05SWWtleQ=='],
  ['poe', 'api.poe.com/v1/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['polar', 'api.polar.sh/v1/products/', 'Authorization: Bearer CNRYkey'],
  ['polygon', 'api.polygon.io/v3/reference/tickers', 'Authorization: Bearer CNRYkey'],
  ['poolside', 'inference.poolside.ai/v1/models', 'Authorization: Bearer CNRYkey'],
  ['portkey', 'api.portkey.ai/v1/chat/completions', 'x-portkey-api-key: CNRYkey'],
  ['posthog', 'eu.posthog.com/api/users/@me/', 'Authorization: Bearer CNRYkey'],
  ['postman', 'api.getpostman.com/me', 'X-Api-Key: CNRYkey'],
  ['postmark', 'api.postmarkapp.com/email', 'X-Postmark-Server-Token: CNRYkey'],
  ['printful', 'api.printful.com/stores', 'Authorization: Bearer CNRYkey'],
  ['printify', 'api.printify.com/v1/shops.json', 'Authorization: Bearer CNRYkey'],
  ['prodia', 'inference.prodia.com/v2/job', 'Authorization: Bearer CNRYkey'],
  ['productboard', 'api.productboard.com/v2/notes', 'Authorization: Bearer CNRYkey'],
  ['prospeo', 'api.prospeo.io/account-information', 'X-KEY: CNRYkey'],
  ['pulumi', 'api.pulumi.com/api/user', 'Authorization: token CNRYkey'],
  ['pushbullet', 'api.pushbullet.com/v2/users/me', 'Access-Token: CNRYkey'],
  ['pylon', 'api.usepylon.com/me', 'Authorization: Bearer CNRYkey'],
  ['pypi', 'upload.pypi.org/legacy/', 'Authorization: Basic X190b2tlbl9fOkNOUllrZXk='],
  ['qdrant', 'xyz.eu-central.aws.cloud.qdrant.io/collections', 'api-key: CNRYkey'],
  ['quay', 'quay.io/v2/auth', 'Authorization: Basic Q05SWXVzZXJuYW1lOkNOUllrZXk='],
  ['quickbase', 'api.quickbase.com/v1/apps/x', 'Authorization: QB-USER-TOKEN CNRYkey', 'QB-Realm-Hostname: CNRYrealm'],
  ['ragie', 'api.ragie.ai/documents', 'Authorization: Bearer CNRYkey'],
  ['railway', 'backboard.railway.com/graphql/v2', 'Authorization: Bearer CNRYkey'],
  ['raindrop', 'api.raindrop.io/rest/v1/user', 'Authorization: Bearer CNRYkey'],
  ['razorpay', 'api.razorpay.com/v1/payments', 'Authorization: Basic Q05SWWtleV9pZDpDTlJZa2V5'],
  ['readme', 'dash.readme.com/api/v1/categories', 'Authorization: Basic Q05SWWtleTo='],
  ['readwise', 'readwise.io/api/v2/books/', 'Authorization: Token CNRYkey'],
  ['recharge', 'api.rechargeapps.com/customers', 'X-Recharge-Access-Token: CNRYkey'],
  ['recraft', 'external.api.recraft.ai/v1/users/me', 'Authorization: Bearer CNRYkey'],
  ['recruitee', 'api.recruitee.com/c/1/offers', 'Authorization: Bearer CNRYkey'],
  [
    'recurly',
    'v3.recurly.com/accounts',
    'Authorization: Basic Q05SWWtleTo=',
    'Accept: application/vnd.recurly.v2021-02-25 (if absent)',
  ],
  ['reducto', 'platform.reducto.ai/parse', 'Authorization: Bearer CNRYkey'],
  ['reka', 'api.reka.ai/v1/models', 'X-Api-Key: CNRYkey', 'Authorization: Bearer CNRYkey'],
  ['removebg', 'api.remove.bg/v1.0/account', 'X-Api-Key: CNRYkey'],
  ['render', 'api.render.com/v1/services', 'Authorization: Bearer CNRYkey'],
  ['replicate', 'api.replicate.com/v1/account', 'Authorization: Bearer CNRYkey'],
  ['requesty', 'router.requesty.ai/v1/models', 'Authorization: Bearer CNRYkey', 'x-api-key: CNRYkey'],
  ['resend', 'api.resend.com/emails', 'Authorization: Bearer CNRYkey'],
  ['retell-ai', 'api.retellai.com/list-agents', 'Authorization: Bearer CNRYkey'],
  ['rev-ai', 'api.rev.ai/speechtotext/v1/account', 'Authorization: Bearer CNRYkey'],
  ['revenuecat', 'api.revenuecat.com/v2/projects', 'Authorization: Bearer CNRYkey'],
  ['rippling', 'rest.ripplingapis.com/workers', 'Authorization: Bearer CNRYkey'],
  ['roblox', 'apis.roblox.com/cloud/v2/users/1', 'x-api-key: CNRYkey'],
  ['rollbar', 'api.rollbar.com/api/1/projects', 'X-Rollbar-Access-Token: CNRYkey'],
  ['rootly', 'api.rootly.com/v1/incidents', 'Authorization: Bearer CNRYkey'],
  ['rubygems', 'rubygems.org/api/v1/gems.json', 'Authorization: CNRYkey'],
  ['runpod', 'api.runpod.ai/v2/x/run', 'Authorization: Bearer CNRYkey'],
  [
    'runway',
    'api.dev.runwayml.com/v1/organization',
    'Authorization: Bearer CNRYkey',
    'X-Runway-Version: 2024-11-06 (if absent)',
  ],
  ['salesloft', 'api.salesloft.com/v2/me', 'Authorization: Bearer CNRYkey'],
  ['sambanova', 'api.sambanova.ai/v1/chat/completions', 'Authorization: Bearer CNRYkey', 'x-api-key: CNRYkey'],
  ['sanity', 'acme.api.sanity.io/v2021-06-07/data/query/production', 'Authorization: Bearer CNRYkey'],
  ['sarvam', 'api.sarvam.ai/translate', 'api-subscription-key: CNRYkey'],
  [
    'saucelabs',
    'api.eu-central-1.saucelabs.com/team-management/v1/users/',
    'Authorization: Basic Q05SWXVzZXJuYW1lOkNOUllrZXk=',
  ],
  ['scaleway', 'api.scaleway.com/instance/v1/zones/fr-par-1/servers', 'X-Auth-Token: CNRYkey'],
  ['scaleway-ai', 'api.scaleway.ai/v1/models', 'Authorization: Bearer CNRYkey'],
  ['scrape-do', 'api.scrape.do/', '?token=CNRYkey'],
  ['scrapegraphai', 'api.scrapegraphai.com/v1/smartscraper', 'SGAI-APIKEY: CNRYkey'],
  ['scraperapi', 'api.scraperapi.com/account', '?api_key=CNRYkey'],
  ['scrapfly', 'api.scrapfly.io/scrape', '?key=CNRYkey'],
  ['scrapingbee', 'app.scrapingbee.com/api/v1/', '?api_key=CNRYkey'],
  ['searchapi', 'www.searchapi.io/api/v1/search', 'Authorization: Bearer CNRYkey'],
  ['segment', 'api.segmentapis.com/sources', 'Authorization: Bearer CNRYkey'],
  ['segmind', 'api.segmind.com/v1/sdxl1.0-txt2img', 'x-api-key: CNRYkey'],
  ['semantic-scholar', 'api.semanticscholar.org/graph/v1/paper/search', 'x-api-key: CNRYkey'],
  ['semrush', 'api.semrush.com/', '?key=CNRYkey'],
  ['sendgrid', 'api.sendgrid.com/v3/mail/send', 'Authorization: Bearer CNRYkey'],
  ['sentinelone', 'acme.sentinelone.net/web/api/v2.1/agents', 'Authorization: ApiToken CNRYkey'],
  ['sentry', 'us.sentry.io/api/0/projects/', 'Authorization: Bearer CNRYkey'],
  ['serpapi', 'serpapi.com/search', '?api_key=CNRYkey'],
  ['serper', 'google.serper.dev/search', 'X-API-KEY: CNRYkey'],
  ['shippo', 'api.goshippo.com/shipments/', 'Authorization: ShippoToken CNRYkey'],
  ['shipstation', 'api.shipstation.com/v2/labels', 'API-Key: CNRYkey'],
  ['shodan', 'api.shodan.io/shodan/host/search', '?key=CNRYkey'],
  ['shopify', 'acme.myshopify.com/admin/api/2025-01/shop.json', 'X-Shopify-Access-Token: CNRYkey'],
  ['shortcut', 'api.app.shortcut.com/api/v3/member', 'Shortcut-Token: CNRYkey'],
  ['siliconflow', 'api.siliconflow.com/v1/models', 'Authorization: Bearer CNRYkey'],
  ['similarweb', 'api.similarweb.com/v5/website-analysis/websites/traffic-and-engagement', 'api-key: CNRYkey'],
  ['slack', 'slack.com/api/auth.test', 'Authorization: Bearer CNRYkey'],
  ['slack-app', 'slack.com/api/apps.connections.open', 'Authorization: Bearer CNRYkey'],
  ['smartlead', 'server.smartlead.ai/api/v1/campaigns', '?api_key=CNRYkey'],
  ['smartsheet', 'api.smartsheet.com/2.0/users/me', 'Authorization: Bearer CNRYkey'],
  [
    'snowflake',
    'acme.snowflakecomputing.com/api/v2/statements',
    'Authorization: Bearer CNRYkey',
    'X-Snowflake-Authorization-Token-Type: PROGRAMMATIC_ACCESS_TOKEN (if absent)',
  ],
  ['snyk', 'api.snyk.io/rest/self', 'Authorization: token CNRYkey'],
  ['socket-dev', 'api.socket.dev/v0/quota', 'Authorization: Bearer CNRYkey'],
  ['sonarcloud', 'sonarcloud.io/api/projects/search', 'Authorization: Bearer CNRYkey'],
  ['sourcegraph', 'sourcegraph.com/.api/graphql', 'Authorization: token CNRYkey'],
  ['sparkpost', 'api.sparkpost.com/api/v1/transmissions', 'Authorization: CNRYkey'],
  ['spider', 'api.spider.cloud/crawl', 'Authorization: Bearer CNRYkey'],
  ['splunk-observability', 'api.us1.signalfx.com/v2/dashboard', 'X-SF-TOKEN: CNRYkey'],
  ['square', 'connect.squareup.com/v2/locations', 'Authorization: Bearer CNRYkey'],
  ['squarespace', 'api.squarespace.com/1.0/commerce/orders', 'Authorization: Bearer CNRYkey'],
  ['stability-ai', 'api.stability.ai/v1/user/account', 'Authorization: Bearer CNRYkey'],
  ['statsig', 'statsigapi.net/console/v1/gates', 'STATSIG-API-KEY: CNRYkey'],
  ['statuspage', 'api.statuspage.io/v1/pages', 'Authorization: OAuth CNRYkey'],
  ['steel', 'api.steel.dev/v1/sessions', 'steel-api-key: CNRYkey'],
  ['stepfun', 'api.stepfun.com/v1/models', 'Authorization: Bearer CNRYkey'],
  ['storyblok', 'mapi.storyblok.com/v1/spaces/', 'Authorization: CNRYkey'],
  ['streak', 'api.streak.com/api/v1/users/me', 'Authorization: Basic Q05SWWtleTo='],
  ['stripe', 'api.stripe.com/v1/charges', 'Authorization: Bearer CNRYkey'],
  ['stytch', 'test.stytch.com/v1/users', 'Authorization: Basic Q05SWXByb2plY3RfaWQ6Q05SWWtleQ=='],
  ['supabase', 'api.supabase.com/v1/projects', 'Authorization: Bearer CNRYkey'],
  ['supabase-project', 'acme.supabase.co/rest/v1/countries', 'apikey: CNRYkey', 'Authorization: Bearer CNRYkey'],
  ['supadata', 'api.supadata.ai/v1/me', 'x-api-key: CNRYkey'],
  ['supermemory', 'api.supermemory.ai/v3/search', 'Authorization: Bearer CNRYkey'],
  ['surveymonkey', 'api.surveymonkey.com/v3/users/me', 'Authorization: Bearer CNRYkey'],
  ['synthetic', 'api.synthetic.new/openai/v1/models', 'Authorization: Bearer CNRYkey', 'x-api-key: CNRYkey'],
  ['tailscale', 'api.tailscale.com/api/v2/tailnet/-/devices', 'Authorization: Bearer CNRYkey'],
  ['tally', 'api.tally.so/users/me', 'Authorization: Bearer CNRYkey'],
  ['tavily', 'api.tavily.com/search', 'Authorization: Bearer CNRYkey'],
  ['telegram', 'api.telegram.org/bot0:x/getMe', '/bot → /botCNRYkey'],
  ['telnyx', 'api.telnyx.com/v2/balance', 'Authorization: Bearer CNRYkey'],
  ['terraform-cloud', 'app.terraform.io/api/v2/account/details', 'Authorization: Bearer CNRYkey'],
  ['testpypi', 'test.pypi.org/legacy/', 'Authorization: Basic X190b2tlbl9fOkNOUllrZXk='],
  ['testrail', 'acme.testrail.io/index.php', 'Authorization: Basic Q05SWWVtYWlsOkNOUllrZXk='],
  ['ticketmaster', 'app.ticketmaster.com/discovery/v2/events.json', '?apikey=CNRYkey'],
  ['ticktick', 'api.ticktick.com/open/v1/project', 'Authorization: Bearer CNRYkey'],
  ['tiingo', 'api.tiingo.com/api/test', 'Authorization: Token CNRYkey'],
  ['tinybird', 'api.us-east.tinybird.co/v0/pipes', 'Authorization: Bearer CNRYkey'],
  ['tldv', 'pasta.tldv.io/v1alpha1/meetings', 'x-api-key: CNRYkey'],
  ['tmdb', 'api.themoviedb.org/3/movie/550', '?api_key=CNRYkey'],
  ['todoist', 'api.todoist.com/api/v1/projects', 'Authorization: Bearer CNRYkey'],
  ['together', 'api.together.xyz/v1/models', 'Authorization: Bearer CNRYkey'],
  ['toggl', 'api.track.toggl.com/api/v9/me', 'Authorization: Basic Q05SWWtleTphcGlfdG9rZW4='],
  ['tomorrow-io', 'api.tomorrow.io/v4/weather/realtime', '?apikey=CNRYkey'],
  ['tomtom', 'api.tomtom.com/search/2/search/x.json', '?key=CNRYkey'],
  ['travis-ci', 'api.travis-ci.com/user', 'Authorization: token CNRYkey', 'Travis-API-Version: 3 (if absent)'],
  ['trello', 'api.trello.com/1/members/me', '?key=CNRYkey', '?token=CNRYtoken'],
  ['trigger-dev', 'api.trigger.dev/api/v1/runs', 'Authorization: Bearer CNRYkey'],
  ['turso', 'api.turso.tech/v1/organizations', 'Authorization: Bearer CNRYkey'],
  ['twelve-data', 'api.twelvedata.com/time_series', '?apikey=CNRYkey'],
  ['twenty', 'api.twenty.com/rest/people', 'Authorization: Bearer CNRYkey'],
  ['twilio', 'verify.twilio.com/v2/Services', 'Authorization: Basic Q05SWXNpZDpDTlJZa2V5'],
  ['typeform', 'api.typeform.com/me', 'Authorization: Bearer CNRYkey'],
  ['typesense', 'acme.a1.typesense.net/collections', 'X-TYPESENSE-API-KEY: CNRYkey'],
  ['unsplash', 'api.unsplash.com/photos', 'Authorization: Client-ID CNRYkey'],
  ['unstructured', 'api.unstructuredapp.io/general/v0/general', 'unstructured-api-key: CNRYkey'],
  ['upstage', 'api.upstage.ai/v1/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['upstash', 'api.upstash.com/v2/redis/databases', 'Authorization: Basic Q05SWWVtYWlsOkNOUllrZXk='],
  ['upstash-redis', 'acme.upstash.io/get/x', 'Authorization: Bearer CNRYkey'],
  ['urlscan', 'urlscan.io/api/v1/scan/', 'API-Key: CNRYkey'],
  ['v0', 'api.v0.dev/v1/chats', 'Authorization: Bearer CNRYkey'],
  ['vapi', 'api.vapi.ai/assistant', 'Authorization: Bearer CNRYkey'],
  ['vectara', 'api.vectara.io/v2/corpora', 'x-api-key: CNRYkey'],
  ['venice', 'api.venice.ai/api/v1/models', 'Authorization: Bearer CNRYkey'],
  ['vercel', 'api.vercel.com/v2/user', 'Authorization: Bearer CNRYkey'],
  ['vercel-ai-gateway', 'ai-gateway.vercel.sh/v1/models', 'Authorization: Bearer CNRYkey'],
  ['vimeo', 'api.vimeo.com/me', 'Authorization: Bearer CNRYkey'],
  ['virustotal', 'www.virustotal.com/api/v3/files', 'x-apikey: CNRYkey'],
  ['volcengine-ark', 'ark.cn-beijing.volces.com/api/v3/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['vonage', 'api.nexmo.com/v2/reports', 'Authorization: Basic Q05SWWNvbnN1bWVyX2lkOkNOUllrZXk='],
  ['voyage', 'api.voyageai.com/v1/embeddings', 'Authorization: Bearer CNRYkey'],
  ['vultr', 'api.vultr.com/v2/account', 'Authorization: Bearer CNRYkey'],
  ['vultr-inference', 'api.vultrinference.com/v1/models', 'Authorization: Bearer CNRYkey'],
  ['wakatime', 'wakatime.com/api/v1/users/current', 'Authorization: Basic Q05SWWtleTo='],
  ['wandb', 'api.wandb.ai/graphql', 'Authorization: Basic YXBpOkNOUllrZXk='],
  ['wave', 'gql.waveapps.com/graphql/public', 'Authorization: Bearer CNRYkey'],
  ['weatherapi', 'api.weatherapi.com/v1/current.json', '?key=CNRYkey'],
  ['weaviate', 'abc.c0.us-west3.gcp.weaviate.cloud/v1/schema', 'Authorization: Bearer CNRYkey'],
  ['webex', 'webexapis.com/v1/people/me', 'Authorization: Bearer CNRYkey'],
  ['webflow', 'api.webflow.com/v2/sites', 'Authorization: Bearer CNRYkey'],
  ['wise', 'api.wise.com/v2/profiles', 'Authorization: Bearer CNRYkey'],
  ['wistia', 'api.wistia.com/v1/account.json', 'Authorization: Bearer CNRYkey'],
  ['wolfram-alpha', 'api.wolframalpha.com/v2/query', '?appid=CNRYkey'],
  ['wordpress-com', 'public-api.wordpress.com/rest/v1.1/me', 'Authorization: Bearer CNRYkey'],
  ['workable', 'acme.workable.com/spi/v3/jobs', 'Authorization: Bearer CNRYkey'],
  ['workos', 'api.workos.com/user_management/users', 'Authorization: Bearer CNRYkey'],
  ['wrike', 'www.wrike.com/api/v4/contacts', 'Authorization: Bearer CNRYkey'],
  ['writer', 'api.writer.com/v1/models', 'Authorization: Bearer CNRYkey'],
  ['x', 'api.x.com/2/tweets/search/recent', 'Authorization: Bearer CNRYkey'],
  ['xai', 'api.x.ai/v1/models', 'Authorization: Bearer CNRYkey'],
  ['yelp', 'api.yelp.com/v3/businesses/search', 'Authorization: Bearer CNRYkey'],
  ['you-com', 'api.ydc-index.io/search', 'X-API-Key: CNRYkey'],
  ['youtube', 'www.googleapis.com/youtube/v3/videos', '?key=CNRYkey'],
  ['zai', 'api.z.ai/api/paas/v4/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['zendesk', 'acme.zendesk.com/api/v2/users/me.json', 'Authorization: Basic Q05SWWVtYWlsL3Rva2VuOkNOUllrZXk='],
  ['zenrows', 'api.zenrows.com/v1/', '?apikey=CNRYkey'],
  ['zep', 'api.getzep.com/api/v2/users', 'Authorization: Api-Key CNRYkey'],
  ['zerotier', 'api.zerotier.com/api/v1/network', 'Authorization: token CNRYkey'],
  ['zhipu', 'open.bigmodel.cn/api/paas/v4/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['zulip', 'acme.zulipchat.com/api/v1/users/me', 'Authorization: Basic Q05SWWVtYWlsOkNOUllrZXk='],
]

/** What each sends after a login by OAuth. Written down as above; the token is `CNRYtoken`. */
const EXPECTED_OF_TOKENS: readonly (readonly [name: string, request: string, ...injected: string[]])[] = [
  ['adobe', 'firefly-api.adobe.io/v3/images/generate', 'Authorization: Bearer CNRYtoken', 'x-api-key: CNRYclient'],
  ['airtable', 'api.airtable.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['amazon', 'api.amazon.com/user/profile', 'Authorization: Bearer CNRYtoken'],
  ['asana', 'app.asana.com/api/1.0/users/me', 'Authorization: Bearer CNRYtoken'],
  ['atlassian', 'api.atlassian.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['attio', 'api.attio.com/v2/self', 'Authorization: Bearer CNRYtoken'],
  ['auth0', 'acme.us.auth0.com/api/v2/users', 'Authorization: Bearer CNRYtoken'],
  ['auth0-au', 'acme.au.auth0.com/api/v2/users', 'Authorization: Bearer CNRYtoken'],
  ['auth0-ca', 'acme.ca.auth0.com/api/v2/users', 'Authorization: Bearer CNRYtoken'],
  ['auth0-eu', 'acme.eu.auth0.com/api/v2/users', 'Authorization: Bearer CNRYtoken'],
  ['auth0-jp', 'acme.jp.auth0.com/api/v2/users', 'Authorization: Bearer CNRYtoken'],
  ['auth0-uk', 'acme.uk.auth0.com/api/v2/users', 'Authorization: Bearer CNRYtoken'],
  ['autodesk', 'developer.api.autodesk.com/project/v1/hubs', 'Authorization: Bearer CNRYtoken'],
  ['azure-management', 'management.azure.com/subscriptions', 'Authorization: Bearer CNRYtoken'],
  ['bamboohr', 'acme.bamboohr.com/api/v1/employees/directory', 'Authorization: Bearer CNRYtoken'],
  ['basecamp', '3.basecampapi.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['bitbucket', 'api.bitbucket.org/2.0/user', 'Authorization: Bearer CNRYtoken'],
  ['bitly', 'api-ssl.bitly.com/v4/user', 'Authorization: Bearer CNRYtoken'],
  ['box', 'api.box.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['calendly', 'api.calendly.com/users/me', 'Authorization: Bearer CNRYtoken'],
  ['canva', 'api.canva.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['clickup', 'api.clickup.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['coinbase', 'api.coinbase.com/v2/user', 'Authorization: Bearer CNRYtoken'],
  ['constant-contact', 'api.cc.email/v3/account/summary', 'Authorization: Bearer CNRYtoken'],
  ['dailymotion', 'api.dailymotion.com/me', 'Authorization: Bearer CNRYtoken'],
  ['databricks', 'acme.cloud.databricks.com/api/2.0/clusters/list', 'Authorization: Bearer CNRYtoken'],
  ['deviantart', 'www.deviantart.com/api/v1/oauth2/user/whoami', 'Authorization: Bearer CNRYtoken'],
  ['digitalocean', 'api.digitalocean.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['discord', 'discord.com/api/v10/users/@me', 'Authorization: Bearer CNRYtoken'],
  ['docusign', 'na4.docusign.net/restapi/v2.1/accounts/x', 'Authorization: Bearer CNRYtoken'],
  ['docusign-demo', 'demo.docusign.net/restapi/v2.1/accounts/x', 'Authorization: Bearer CNRYtoken'],
  ['dropbox', 'api.dropboxapi.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['ebay', 'api.ebay.com/buy/browse/v1/item_summary/search', 'Authorization: Bearer CNRYtoken'],
  ['ebay-sandbox', 'api.sandbox.ebay.com/buy/browse/v1/item_summary/search', 'Authorization: Bearer CNRYtoken'],
  ['eventbrite', 'www.eventbriteapi.com/v3/users/me/', 'Authorization: Bearer CNRYtoken'],
  ['facebook', 'graph.facebook.com/v22.0/me', 'Authorization: Bearer CNRYtoken'],
  ['fathom', 'api.fathom.ai/external/v1/meetings', 'Authorization: Bearer CNRYtoken'],
  ['figma', 'api.figma.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['freshbooks', 'api.freshbooks.com/auth/api/v1/users/me', 'Authorization: Bearer CNRYtoken'],
  ['front', 'api2.frontapp.com/me', 'Authorization: Bearer CNRYtoken'],
  ['github', 'api.github.com/user', 'Authorization: Bearer CNRYtoken'],
  ['gitlab', 'gitlab.com/api/v4/user', 'Authorization: Bearer CNRYtoken'],
  ['gmail', 'gmail.googleapis.com/gmail/v1/users/me/profile', 'Authorization: Bearer CNRYtoken'],
  ['google', 'keep.googleapis.com/v1/notes', 'Authorization: Bearer CNRYtoken'],
  ['google-admin', 'admin.googleapis.com/admin/directory/v1/users', 'Authorization: Bearer CNRYtoken'],
  ['google-analytics', 'analyticsdata.googleapis.com/v1beta/properties/1:runReport', 'Authorization: Bearer CNRYtoken'],
  ['google-bigquery', 'bigquery.googleapis.com/bigquery/v2/projects', 'Authorization: Bearer CNRYtoken'],
  ['google-calendar', 'www.googleapis.com/calendar/v3/users/me/calendarList', 'Authorization: Bearer CNRYtoken'],
  ['google-chat', 'chat.googleapis.com/v1/spaces', 'Authorization: Bearer CNRYtoken'],
  ['google-cloud', 'compute.googleapis.com/compute/v1/projects/x', 'Authorization: Bearer CNRYtoken'],
  ['google-contacts', 'people.googleapis.com/v1/people/me', 'Authorization: Bearer CNRYtoken'],
  ['google-docs', 'docs.googleapis.com/v1/documents/x', 'Authorization: Bearer CNRYtoken'],
  ['google-drive', 'www.googleapis.com/drive/v3/files', 'Authorization: Bearer CNRYtoken'],
  ['google-forms', 'forms.googleapis.com/v1/forms/x', 'Authorization: Bearer CNRYtoken'],
  ['google-health', 'health.googleapis.com/v4/users/me/profile', 'Authorization: Bearer CNRYtoken'],
  ['google-meet', 'meet.googleapis.com/v2/spaces/x', 'Authorization: Bearer CNRYtoken'],
  ['google-search-console', 'www.googleapis.com/webmasters/v3/sites', 'Authorization: Bearer CNRYtoken'],
  ['google-sheets', 'sheets.googleapis.com/v4/spreadsheets/x', 'Authorization: Bearer CNRYtoken'],
  ['google-slides', 'slides.googleapis.com/v1/presentations/x', 'Authorization: Bearer CNRYtoken'],
  ['google-tasks', 'tasks.googleapis.com/tasks/v1/users/@me/lists', 'Authorization: Bearer CNRYtoken'],
  ['greenhouse', 'harvest.greenhouse.io/v3/candidates', 'Authorization: Bearer CNRYtoken'],
  ['gumroad', 'api.gumroad.com/v2/user', 'Authorization: Bearer CNRYtoken'],
  ['helpscout', 'api.helpscout.net/v2/users/me', 'Authorization: Bearer CNRYtoken'],
  [
    'heroku',
    'api.heroku.com/account',
    'Authorization: Bearer CNRYtoken',
    'Accept: application/vnd.heroku+json; version=3 (if absent)',
  ],
  ['hubspot', 'api.hubapi.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['huggingface', 'huggingface.co/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['imgur', 'api.imgur.com/3/account/me', 'Authorization: Bearer CNRYtoken'],
  ['intercom', 'api.intercom.io/me', 'Authorization: Bearer CNRYtoken'],
  ['kakao', 'kapi.kakao.com/v2/user/me', 'Authorization: Bearer CNRYtoken'],
  ['kick', 'api.kick.com/public/v1/users', 'Authorization: Bearer CNRYtoken'],
  ['lichess', 'lichess.org/api/account', 'Authorization: Bearer CNRYtoken'],
  ['linear', 'api.linear.app/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['mailchimp', 'us21.api.mailchimp.com/3.0/ping', 'Authorization: Bearer CNRYtoken'],
  ['mcp-ahrefs', 'api.ahrefs.com/mcp/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-airtable', 'mcp.airtable.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-amplitude', 'mcp.amplitude.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-atlassian', 'mcp.atlassian.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-atlassian-v2', 'mcp.atlassian.com/v2/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-attio', 'mcp.attio.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-brex', 'api.brex.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-calendly', 'mcp.calendly.com/', 'Authorization: Bearer CNRYtoken'],
  ['mcp-canva', 'mcp.canva.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-clickup', 'mcp.clickup.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-close', 'mcp.close.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-cloudflare', 'mcp.cloudflare.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-cloudflare-bindings', 'bindings.mcp.cloudflare.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-cloudflare-browser', 'browser.mcp.cloudflare.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-cloudflare-builds', 'builds.mcp.cloudflare.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-cloudflare-observability', 'observability.mcp.cloudflare.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-cloudflare-radar', 'radar.mcp.cloudflare.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-fireflies', 'api.fireflies.ai/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-gitlab', 'gitlab.com/api/v4/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-globalping', 'mcp.globalping.dev/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-grafana', 'mcp.grafana.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-granola', 'mcp.granola.ai/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-huggingface', 'huggingface.co/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-intercom', 'mcp.intercom.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-klaviyo', 'mcp.klaviyo.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-linear', 'mcp.linear.app/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-miro', 'mcp.miro.com/', 'Authorization: Bearer CNRYtoken'],
  ['mcp-monday', 'mcp.monday.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-neon', 'mcp.neon.tech/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-netlify', 'netlify-mcp.netlify.app/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-notion', 'mcp.notion.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-paypal', 'mcp.paypal.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-posthog', 'mcp.posthog.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-prisma', 'mcp.prisma.io/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-railway', 'mcp.railway.com/', 'Authorization: Bearer CNRYtoken'],
  ['mcp-ramp', 'mcp.ramp.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-resend', 'mcp.resend.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-robinhood', 'agent.robinhood.com/mcp/trading', 'Authorization: Bearer CNRYtoken'],
  ['mcp-salesloft', 'mcp.salesloft.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-sanity', 'mcp.sanity.io/', 'Authorization: Bearer CNRYtoken'],
  ['mcp-semgrep', 'mcp.semgrep.ai/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-sentry', 'mcp.sentry.dev/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-stripe', 'mcp.stripe.com/', 'Authorization: Bearer CNRYtoken'],
  ['mcp-supabase', 'mcp.supabase.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-todoist', 'ai.todoist.net/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-trello', 'mcp.trello.com/v1', 'Authorization: Bearer CNRYtoken'],
  ['mcp-typeform', 'api.typeform.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-vercel', 'mcp.vercel.com/', 'Authorization: Bearer CNRYtoken'],
  ['mcp-webflow', 'mcp.webflow.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-wix', 'mcp.wix.com/mcp', 'Authorization: Bearer CNRYtoken'],
  ['mcp-zapier', 'mcp.zapier.com/api/v1/connect', 'Authorization: Bearer CNRYtoken'],
  ['meetup', 'api.meetup.com/gql', 'Authorization: Bearer CNRYtoken'],
  ['mercadopago', 'api.mercadopago.com/users/me', 'Authorization: Bearer CNRYtoken'],
  ['microsoft', 'graph.microsoft.com/v1.0/me', 'Authorization: Bearer CNRYtoken'],
  ['miro', 'api.miro.com/v2/boards', 'Authorization: Bearer CNRYtoken'],
  ['mollie', 'api.mollie.com/v2/organizations/me', 'Authorization: Bearer CNRYtoken'],
  ['mural', 'app.mural.co/api/public/v1/users/me', 'Authorization: Bearer CNRYtoken'],
  ['notion', 'api.notion.com/v1/users/me', 'Authorization: Bearer CNRYtoken', 'Notion-Version: 2022-06-28 (if absent)'],
  ['okta', 'acme.okta.com/api/v1/users/me', 'Authorization: Bearer CNRYtoken'],
  ['openstreetmap', 'api.openstreetmap.org/api/0.6/user/details.json', 'Authorization: Bearer CNRYtoken'],
  ['osu', 'osu.ppy.sh/api/v2/me', 'Authorization: Bearer CNRYtoken'],
  ['oura', 'api.ouraring.com/v2/usercollection/personal_info', 'Authorization: Bearer CNRYtoken'],
  ['pagerduty', 'api.pagerduty.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['patreon', 'www.patreon.com/api/oauth2/v2/identity', 'Authorization: Bearer CNRYtoken'],
  ['paypal', 'api-m.paypal.com/v2/checkout/orders', 'Authorization: Bearer CNRYtoken'],
  ['paypal-sandbox', 'api-m.sandbox.paypal.com/v2/checkout/orders', 'Authorization: Bearer CNRYtoken'],
  ['pinterest', 'api.pinterest.com/v5/user_account', 'Authorization: Bearer CNRYtoken'],
  ['pipedrive', 'acme.pipedrive.com/api/v2/deals', 'Authorization: Bearer CNRYtoken'],
  ['polar', 'api.polar.sh/v1/oauth2/userinfo', 'Authorization: Bearer CNRYtoken'],
  ['power-bi', 'api.powerbi.com/v1.0/myorg/groups', 'Authorization: Bearer CNRYtoken'],
  ['quickbooks', 'quickbooks.api.intuit.com/v3/company/1/companyinfo/1', 'Authorization: Bearer CNRYtoken'],
  ['railway', 'backboard.railway.com/graphql/v2', 'Authorization: Bearer CNRYtoken'],
  ['ramp', 'api.ramp.com/developer/v1/transactions', 'Authorization: Bearer CNRYtoken'],
  ['ramp-sandbox', 'demo-api.ramp.com/developer/v1/transactions', 'Authorization: Bearer CNRYtoken'],
  ['reddit', 'oauth.reddit.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['roblox', 'apis.roblox.com/oauth/v1/userinfo', 'Authorization: Bearer CNRYtoken'],
  ['sage', 'api.accounting.sage.com/v3.1/user', 'Authorization: Bearer CNRYtoken'],
  ['salesforce', 'acme.my.salesforce.com/services/data', 'Authorization: Bearer CNRYtoken'],
  ['salesforce-sandbox', 'acme--dev.sandbox.my.salesforce.com/services/data', 'Authorization: Bearer CNRYtoken'],
  ['salesloft', 'api.salesloft.com/v2/me', 'Authorization: Bearer CNRYtoken'],
  ['sentry', 'us.sentry.io/api/0/projects/', 'Authorization: Bearer CNRYtoken'],
  ['shopify', 'acme.myshopify.com/admin/api/2026-01/shop.json', 'X-Shopify-Access-Token: CNRYtoken'],
  ['slack', 'slack.com/api/auth.test', 'Authorization: Bearer CNRYtoken'],
  ['snapchat', 'adsapi.snapchat.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['spotify', 'api.spotify.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['square', 'connect.squareup.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['strava', 'www.strava.com/api/v3/athlete', 'Authorization: Bearer CNRYtoken'],
  ['supabase', 'api.supabase.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['surveymonkey', 'api.surveymonkey.com/v3/users/me', 'Authorization: Bearer CNRYtoken'],
  ['tailscale', 'api.tailscale.com/api/v2/tailnet/-/devices', 'Authorization: Bearer CNRYtoken'],
  ['ticktick', 'api.ticktick.com/open/v1/project', 'Authorization: Bearer CNRYtoken'],
  ['todoist', 'api.todoist.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  [
    'trakt',
    'api.trakt.tv/users/me',
    'Authorization: Bearer CNRYtoken',
    'trakt-api-key: CNRYclient',
    'trakt-api-version: 2 (if absent)',
  ],
  ['tumblr', 'api.tumblr.com/v2/user/info', 'Authorization: Bearer CNRYtoken'],
  ['twitch', 'api.twitch.tv/v1/me', 'Authorization: Bearer CNRYtoken', 'Client-Id: CNRYclient'],
  ['typeform', 'api.typeform.com/me', 'Authorization: Bearer CNRYtoken'],
  ['vimeo', 'api.vimeo.com/me', 'Authorization: Bearer CNRYtoken'],
  ['wave', 'gql.waveapps.com/graphql/public', 'Authorization: Bearer CNRYtoken'],
  ['webex', 'webexapis.com/v1/people/me', 'Authorization: Bearer CNRYtoken'],
  ['webflow', 'api.webflow.com/v2/sites', 'Authorization: Bearer CNRYtoken'],
  ['withings', 'wbsapi.withings.net/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['withings-us', 'wbsapi.us.withingsmed.net/measure', 'Authorization: Bearer CNRYtoken'],
  ['wordpress-com', 'public-api.wordpress.com/rest/v1.1/me', 'Authorization: Bearer CNRYtoken'],
  ['wrike', 'app-eu.wrike.com/api/v4/contacts', 'Authorization: Bearer CNRYtoken'],
  ['x', 'api.x.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['xero', 'api.xero.com/v1/me', 'Authorization: Bearer CNRYtoken'],
  ['yahoo', 'fantasysports.yahooapis.com/fantasy/v2/users', 'Authorization: Bearer CNRYtoken'],
  ['yandex', 'cloud-api.yandex.net/v1/disk/', 'Authorization: OAuth CNRYtoken'],
  ['youtube', 'youtube.googleapis.com/youtube/v3/channels', 'Authorization: Bearer CNRYtoken'],
  ['zendesk', 'acme.zendesk.com/api/v2/users/me.json', 'Authorization: Bearer CNRYtoken'],
  ['zoho', 'www.zohoapis.com/crm/v8/Leads', 'Authorization: Zoho-oauthtoken CNRYtoken'],
  ['zoom', 'api.zoom.us/v1/me', 'Authorization: Bearer CNRYtoken'],
]

/** On hosts where the credential has a form of its own: git over https, registries of packages and images, older APIs. */
const EXPECTED_ELSEWHERE: readonly (readonly [name: string, request: string, ofKey: string, ofToken?: string])[] = [
  ['affinity', 'api.affinity.co/persons', 'Authorization: Basic OkNOUllrZXk='],
  ['aihubmix', 'aihubmix.com/v1/messages', 'x-api-key: CNRYkey'],
  ['aihubmix', 'aihubmix.com/gemini/v1beta/models', 'x-goog-api-key: CNRYkey'],
  ['alchemy', 'sui-mainnet.g.alchemy.com/', 'Authorization: Bearer CNRYkey'],
  [
    'alchemy',
    'starknet-mainnet.g.alchemy.com/starknet/version/rpc/v0_9/broker-proxy-managed',
    '/starknet/version/rpc/v0_9/ → /starknet/version/rpc/v0_9/CNRYkey',
  ],
  [
    'bitbucket',
    'bitbucket.org/o/r.git/info/refs',
    'Authorization: Basic eC1iaXRidWNrZXQtYXBpLXRva2VuLWF1dGg6Q05SWWtleQ==',
    'Authorization: Basic eC10b2tlbi1hdXRoOkNOUll0b2tlbg==',
  ],
  ['browser-use', 'connect.browser-use.com/', '?apiKey=CNRYkey'],
  ['browser-use', 'llm.api.browser-use.com/v1/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['browserbase', 'connect.browserbase.com/', '?apiKey=CNRYkey'],
  ['builtwith', 'api.builtwith.com/mcp', 'Authorization: Bearer CNRYkey'],
  ['circleci', 'circleci.com/graphql-unstable', 'Authorization: CNRYkey'],
  ['cloudsmith', 'dl.cloudsmith.io/basic/acme/repo/python/simple/', 'Authorization: Basic dG9rZW46Q05SWWtleQ=='],
  ['cloudsmith', 'npm.cloudsmith.io/acme/repo/', 'Authorization: Bearer CNRYkey'],
  ['cloudsmith', 'python.cloudsmith.io/acme/repo/', 'Authorization: Basic dG9rZW46Q05SWWtleQ=='],
  ['coinmarketcap', 'mcp.coinmarketcap.com/mcp', 'X-CMC-MCP-API-KEY: CNRYkey'],
  ['d-id', 'ws-api.d-id.com/', '?authorization=Basic CNRYkey'],
  ['diffbot', 'llm.diffbot.com/api/v1/web_search', 'Authorization: Bearer CNRYkey'],
  [
    'facebook',
    'rupload.facebook.com/video-upload/v25.0/1',
    'Authorization: OAuth CNRYkey',
    'Authorization: OAuth CNRYtoken',
  ],
  ['fly-io', 'registry.fly.io/v2/', 'Authorization: Basic eDpDTlJZa2V5'],
  ['forgejo', 'codeberg.org/o/r.git/info/refs', 'Authorization: Basic b2F1dGgyOkNOUllrZXk='],
  ['fred', 'api.stlouisfed.org/fred/v2/release/observations', 'Authorization: Bearer CNRYkey'],
  ['freepik', 'api.magnific.com/v1/ai/mystic', 'x-magnific-api-key: CNRYkey'],
  ['gitea', 'gitea.com/o/r.git/info/refs', 'Authorization: Basic b2F1dGgyOkNOUllrZXk='],
  [
    'github',
    'github.com/o/r.git/info/refs',
    'Authorization: Basic eC1hY2Nlc3MtdG9rZW46Q05SWWtleQ==',
    'Authorization: Basic eC1hY2Nlc3MtdG9rZW46Q05SWXRva2Vu',
  ],
  ...['maven.pkg.github.com/o/r/x.pom', 'nuget.pkg.github.com/o/index.json', 'ghcr.io/token'].map(
    (request) => ['github-packages', request, 'Authorization: Basic eC1hY2Nlc3MtdG9rZW46Q05SWWtleQ=='] as const,
  ),
  [
    'gitlab',
    'gitlab.com/jwt/auth',
    'Authorization: Basic b2F1dGgyOkNOUllrZXk=',
    'Authorization: Basic b2F1dGgyOkNOUll0b2tlbg==',
  ],
  [
    'gitlab',
    'gitlab.com/o/r.git/git-receive-pack',
    'Authorization: Basic b2F1dGgyOkNOUllrZXk=',
    'Authorization: Basic b2F1dGgyOkNOUll0b2tlbg==',
  ],
  [
    'google-gemini',
    'generativelanguage.googleapis.com/v1beta/openai/chat/completions',
    'Authorization: Bearer CNRYkey',
  ],
  [
    'heroku',
    'git.heroku.com/app.git/info/refs',
    'Authorization: Basic aGVyb2t1OkNOUllrZXk=',
    'Authorization: Basic aGVyb2t1OkNOUll0b2tlbg==',
  ],
  ['hyperbrowser', 'connect.hyperbrowser.ai/', '?apiKey=CNRYkey'],
  ['kagi', 'kagi.com/api/v0/search', 'Authorization: Bot CNRYkey'],
  ['lemlist', 'app.lemlist.com/mcp', 'X-API-Key: CNRYkey'],
  ['mailjet', 'api.mailjet.com/v4/sms-send', 'Authorization: Bearer CNRYsms_token'],
  ['mailsac', 'sock.mailsac.com/incoming-messages', '?key=CNRYkey'],
  ['mapbox', 'mcp.mapbox.com/mcp', 'Authorization: Bearer CNRYkey'],
  ['mapbox', 'mcp-devkit.mapbox.com/mcp', 'Authorization: Bearer CNRYkey'],
  ['novita', 'api.us-phx-1.sandbox.novita.ai/sandboxes', 'X-API-Key: CNRYkey'],
  ['novita', 'api.sandbox.novita.ai/sandboxes', 'X-API-Key: CNRYkey'],
  ['poe', 'www.quora.com/poe_api/file_upload_3RD_PARTY_POST', 'Authorization: CNRYkey'],
  ['postman', 'mcp.eu.postman.com/mcp', 'Authorization: Bearer CNRYkey'],
  ['postman', 'mcp.postman.com/mcp', 'Authorization: Bearer CNRYkey'],
  ['readme', 'api.readme.com/v2/projects/me', 'Authorization: Bearer CNRYkey'],
  ['reka', 'vision-agent.api.reka.ai/v1/videos/upload', 'X-Api-Key: CNRYkey'],
  ['scrape-do', 'q.scrape.do/api/v1/jobs', 'X-Token: CNRYkey'],
  ['scraperapi', 'mcp.scraperapi.com/mcp', 'Authorization: Bearer CNRYkey'],
  ['scrapfly', 'browser.scrapfly.io/', '?api_key=CNRYkey'],
  ['semrush', 'api.semrush.com/apis/v4/projects/v1/projects', 'Authorization: Apikey CNRYkey'],
  ['serpapi', 'mcp.serpapi.com/mcp', 'Authorization: Bearer CNRYkey'],
  ['similarweb', 'api.similarweb.com/v1/website/example.com/total-traffic-and-engagement/visits', '?api_key=CNRYkey'],
  ['similarweb', 'api.similarweb.com/v4/website/example.com/geo/total-traffic-by-country', '?api_key=CNRYkey'],
  ['spider', 'browser.spider.cloud/v1/browser', '?token=CNRYkey'],
  ['steel', 'connect.steel.dev/', '?apiKey=CNRYkey'],
  ['wandb', 'api.inference.wandb.ai/v1/chat/completions', 'Authorization: Bearer CNRYkey'],
  ['you-com', 'api.you.com/v1/agents/runs', 'Authorization: Bearer CNRYkey'],
  ['zenrows', 'api.zenrows.com/v1/crawls', 'X-API-Key: CNRYkey'],
  ['zenrows', 'api.zenrows.com/v1/subscriptions/self/details', 'X-API-Key: CNRYkey'],
  ['zenrows', 'async.api.zenrows.com/v1/jobs', 'X-API-Key: CNRYkey'],
  ['zenrows', 'mcp.zenrows.com/browser/sessions/1/navigate', 'Authorization: Bearer CNRYkey'],
]

/** Further hosts that the same key is for: regions, and APIs of a service beside its chief one. */
const EXPECTED_TOO: readonly (readonly [name: string, ...hosts: string[]])[] = [
  ['302ai', 'api.302ai.cn'],
  ['adobe', 'photoshop-api.adobe.io', 'indesign.adobe.io', 's3d.adobe.io'],
  [
    'adyen',
    'pal-test.adyen.com',
    'balanceplatform-api-live.adyen.com',
    'kyc-live.adyen.com',
    'cal-live.adyen.com',
    'ca-live.adyen.com',
    'test.adyen.com/authe',
    'authe-live.adyen.com',
    'obgateway-live.adyen.com',
    'postfmapi-live.adyen.com',
    'device-api-live-au.adyen.com',
    'terminal-api-test.adyen.com',
    'terminal-api-live-us.adyen.com',
  ],
  ['affinity', 'api.affinity.co/persons'],
  ['agentmail', 'api.agentmail.eu'],
  ['airtable', 'content.airtable.com'],
  ['alpha-vantage', 'mcp.alphavantage.co'],
  ['amazon', 'api.amazon.co.jp', 'api.amazon.co.uk'],
  ['apify', 'mcp.apify.com'],
  ['arcade', 'cloud.arcade.dev/api'],
  [
    'assemblyai',
    'api.eu.assemblyai.com',
    'llm-gateway.assemblyai.com',
    'llm-gateway.eu.assemblyai.com',
    'streaming.eu.assemblyai.com',
  ],
  ['autodesk', 'api.userprofile.autodesk.com'],
  ['aws-bedrock', 'bedrock-mantle.us-east-1.api.aws'],
  ['axiom', 'api.eu.axiom.co', 'eu-central-1.aws.edge.axiom.co', 'us-east-1.aws.edge.axiom.co'],
  ['basecamp', 'launchpad.37signals.com/authorization.json'],
  ['bigcommerce', 'api-b2b.bigcommerce.com'],
  ['black-forest-labs', 'api.eu1.bfl.ai', 'api.us1.bfl.ai'],
  ['bland-ai', 'us.api.bland.ai'],
  ['box', 'upload.app.box.com'],
  ['braintrust', 'api-eu.braintrust.dev', 'gateway.braintrust.dev'],
  ['brevo', 'api.sendinblue.com'],
  ['brex', 'api.brex.com'],
  [
    'browserbase',
    'mcp.browserbase.com',
    'api.stagehand.browserbase.com',
    'api.use1.stagehand.browserbase.com',
    'api.euc1.stagehand.browserbase.com',
    'api.apse1.stagehand.browserbase.com',
  ],
  [
    'browserless',
    'chrome.browserless.io',
    'chrome-us-west.browserless.io',
    'chrome-us-east.browserless.io',
    'chrome-eu-uk.browserless.io',
    'chrome-eu-ams.browserless.io',
  ],
  [
    'browserstack',
    'hub.browserstack.com',
    'api-accessibility.browserstack.com',
    'api-automation.browserstack.com',
    'api-observability.browserstack.com',
    'test-management.browserstack.com/api',
    'test-management-eu.browserstack.com/api',
    'test-management-in.browserstack.com/api',
  ],
  ['buffer', 'mcp.buffer.com'],
  ['bugsnag', 'api.bugsnag.smartbear.com'],
  ['buildkite', 'graphql.buildkite.com'],
  ['bunny', 'api-mc.opsbunny.net', 'logging.bunnycdn.com', 'cdn-origin-logging.bunny.net'],
  ['cal-com', 'api.cal.eu'],
  ['checkout-com', 'vkuhvk4v.api.checkout.com', 'vkuhvk4v.api.sandbox.checkout.com'],
  ['chroma', 'europe-west1.gcp.trychroma.com', 'embed.trychroma.com', 'sync.trychroma.com'],
  ['chutes', 'api.chutes.ai'],
  ['circleci', 'runner.circleci.com/api/v3/runner', 'circleci.com/graphql-unstable', 'output.circle-artifacts.com'],
  ['clickhouse-cloud', 'queries.clickhouse.cloud'],
  ['cloudinary', 'api-ap.cloudinary.com', 'api-eu.cloudinary.com'],
  ['cloudsmith', 'api.cloudsmith.com', 'upload.cloudsmith.io'],
  ['contentful', 'api.eu.contentful.com'],
  ['cursor', 'api2.cursor.sh/auth/exchange_user_api_key'],
  ['cursor-admin', 'api.cursor.com/settings/repo-blocklists/repos', 'api.cursor.com/organizations/groups'],
  ['dailymotion', 'graphql.api.dailymotion.com'],
  ['datadog', 'api.ap2.datadoghq.com', 'api.uk1.datadoghq.com', 'api.ddog-gov.com', 'api.us2.ddog-gov.com'],
  ['dataforseo', 'sandbox.dataforseo.com', 'mcp.dataforseo.com'],
  ['daytona', 'proxy.app.daytona.io/toolbox'],
  ['deel', 'api-staging.letsdeel.com', 'api-sandbox.demo.deel.com'],
  ['deepgram', 'api.au.deepgram.com', 'api.eu.deepgram.com', 'api.in.deepgram.com'],
  ['deepl', 'api-us.deepl.com', 'api-jp.deepl.com'],
  ['deno-deploy', 'console.deno.com/api', 'ord.sandbox-api.deno.net'],
  ['devin', 'mcp.devin.ai'],
  ['diffbot', 'nl.diffbot.com'],
  ['digitalocean', 'apps.mcp.digitalocean.com', 'inference.do-ai.run'],
  [
    'docusign',
    'account.docusign.com/oauth/userinfo',
    'api.docusign.com',
    'apps.docusign.com/api',
    'mcp.docusign.com',
    'rooms.docusign.com',
    'na1.proof.docusign.net',
  ],
  [
    'docusign-demo',
    'account-d.docusign.com/oauth/userinfo',
    'api-d.docusign.com',
    'apps-d.docusign.com/api',
    'mcp-d.docusign.com',
    'demo.rooms.docusign.com',
    'api-d.docusign.net',
    'lens-d.docusign.net',
    'notary-d.docusign.net',
    'proof-d.docusign.net',
  ],
  ['drata', 'public-api.eu.drata.com', 'public-api.apac.drata.com'],
  ['duffel', 'api.duffel.cards'],
  ['ebay', 'apiz.ebay.com'],
  ['ebay-sandbox', 'apiz.sandbox.ebay.com'],
  [
    'elevenlabs',
    'api.eu.residency.elevenlabs.io',
    'api.in.residency.elevenlabs.io',
    'api.us.elevenlabs.io',
    'api.sg.residency.elevenlabs.io',
  ],
  ['exa', 'mcp.exa.ai'],
  ['explorium', 'mcp.explorium.ai'],
  ['facebook', 'graph-video.facebook.com'],
  ['fal', 'rest.fal.ai'],
  ['financial-datasets', 'mcp.financialdatasets.ai/api'],
  ['financial-modeling-prep', 'financialmodelingprep.com/mcp'],
  ['foursquare', 'users-api.foursquare.com'],
  ['geoapify', 'maps.geoapify.com'],
  ['giphy', 'upload.giphy.com'],
  ['gmail', 'www.googleapis.com/upload/gmail/v1', 'www.googleapis.com/batch/gmail/v1', 'gmailmcp.googleapis.com'],
  ['gong', 'us-1234.api.gong.io'],
  ['google-admin', 'www.googleapis.com/groups'],
  [
    'google-bigquery',
    'bigquerydatatransfer.googleapis.com',
    'bigquerystorage.googleapis.com',
    'www.googleapis.com/upload/bigquery',
  ],
  ['google-calendar', 'www.googleapis.com/batch/calendar/v3', 'calendarmcp.googleapis.com'],
  ['google-calendar', 'www.googleapis.com/batch/calendar'],
  ['google-chat', 'chatmcp.googleapis.com'],
  [
    'google-cloud',
    'us-south1-aiplatform.googleapis.com',
    'me-west1-aiplatform.googleapis.com',
    'aiplatform.eu.rep.googleapis.com',
    'aiplatform.us.rep.googleapis.com',
  ],
  ['google-docs', 'docsmcp.googleapis.com'],
  ['google-drive', 'www.googleapis.com/batch/drive'],
  ['google-drive', 'www.googleapis.com/batch/drive/v3', 'drivemcp.googleapis.com'],
  [
    'google-gemini',
    'aiplatform.googleapis.com/v1/publishers/google/models',
    'aiplatform.googleapis.com/v1beta1/publishers/google/models',
  ],
  [
    'google-maps',
    'addressvalidation.googleapis.com',
    'aerialview.googleapis.com',
    'airquality.googleapis.com',
    'areainsights.googleapis.com',
    'geocode.googleapis.com',
    'mapstools.googleapis.com',
    'pollen.googleapis.com',
    'roads.googleapis.com',
    'solar.googleapis.com',
    'tile.googleapis.com',
    'weather.googleapis.com',
    'www.googleapis.com/geolocation/v1',
  ],
  ['google-sheets', 'sheetsmcp.googleapis.com'],
  ['google-slides', 'slidesmcp.googleapis.com'],
  ['gumroad', 'gumroad.com/api'],
  ['harness', 'app3.harness.io', 'accounts.harness.io', 'accounts.eu.harness.io'],
  ['helicone', 'eu.api.helicone.ai'],
  ['helius', 'beta.helius-rpc.com', 'api-mainnet.helius-rpc.com'],
  ['heroku', 'api.data.heroku.com'],
  ['hetzner', 'api.hetzner.com'],
  ['honeycomb', 'api.eu1.honeycomb.io'],
  ['hume', 'api.cloud.hume.ai'],
  ['incident-io', 'mcp.incident.io'],
  ['inference-net', 'inference.net/v1/chat/completions', 'batch.inference.net', 'telemetry.inference.net'],
  ['infura', 'mainnet.infura.io/ws/v3', 'gas.api.infura.io/v3'],
  ['instantly', 'mcp.instantly.ai'],
  ['ipinfo', 'v6.ipinfo.io'],
  ['jina', 'svip.jina.ai', 'eu.r.jina.ai', 'eu.s.jina.ai', 'deepsearch.jina.ai', 'mcp.jina.ai'],
  ['jotform', 'hipaa-api.jotform.com'],
  ['jumpcloud', 'console.eu.jumpcloud.com/api', 'console.in.jumpcloud.com/api'],
  ['langfuse', 'hipaa.cloud.langfuse.com', 'jp.cloud.langfuse.com'],
  [
    'langsmith',
    'apac.api.smith.langchain.com',
    'aws.api.smith.langchain.com',
    'api.host.langchain.com',
    'eu.api.host.langchain.com',
    'apac.api.host.langchain.com',
    'aws.api.host.langchain.com',
  ],
  ['launchdarkly', 'app.eu.launchdarkly.com/api', 'app.launchdarkly.us/api'],
  ['lever', 'api.sandbox.lever.co'],
  [
    'lichess',
    'lichess.org/bookmark',
    'lichess.org/broadcast',
    'lichess.org/inbox',
    'lichess.org/team',
    'explorer.lichess.org',
    'explorer.lichess.ovh',
  ],
  ['llamacloud', 'api.cloud.eu.llamaindex.ai'],
  [
    'mailgun',
    'storage-us-east4.api.mailgun.net',
    'storage-us-west1.api.mailgun.net',
    'storage-europe-west1.api.mailgun.net',
  ],
  ['mailjet', 'api.us.mailjet.com'],
  ['make', 'eu1.make.celonis.com/api', 'us1.make.celonis.com/api'],
  ['mathpix', 'eu.api.mathpix.com'],
  ['mcp-posthog', 'mcp-eu.posthog.com'],
  ['mercury', 'api-sandbox.mercury.com'],
  ['mixpanel', 'api-in.mixpanel.com', 'data-in.mixpanel.com', 'in.mixpanel.com/api'],
  ['morph', 'repos.morphllm.com'],
  ['mux', 'mcp.mux.com'],
  ['nano-gpt', 'api.nano-gpt.com/api', 'cake.nano-gpt.com/api', 'nano-gpt.com/v1'],
  ['ncbi', 'api.ncbi.nlm.nih.gov'],
  ['nebius', 'api.tokenfactory.eu-west1.nebius.com', 'api.tokenfactory.us-central1.nebius.com'],
  [
    'new-relic',
    'api.jp.newrelic.com',
    'infra-api.newrelic.com',
    'infra-api.eu.newrelic.com',
    'mcp.newrelic.com',
    'synthetics.newrelic.com',
    'synthetics.eu.newrelic.com',
  ],
  ['nvidia', 'health.api.nvidia.com', 'api.nvcf.nvidia.com'],
  ['okta', 'acme.oktapreview.com', 'acme.okta-emea.com', 'acme.okta-gov.com', 'acme.okta.mil'],
  ['omdb', 'img.omdbapi.com'],
  ['openrouter', 'eu.openrouter.ai/api', 'us.openrouter.ai/api'],
  ['osu', 'notify.ppy.sh'],
  ['outscraper', 'api.app.outscraper.cloud', 'api.outscraper.net'],
  ['ovh-ai-endpoints', 'whisper-large-v3.endpoints.kepler.ai.cloud.ovh.net'],
  ['oxylabs', 'data.oxylabs.io'],
  ['paddle', 'mcp.paddle.com', 'sandbox-mcp.paddle.com'],
  ['pagerduty', 'api.eu.pagerduty.com'],
  ['paypal-sandbox', 'mcp.sandbox.paypal.com'],
  ['people-data-labs', 'sandbox.api.peopledatalabs.com'],
  ['pinecone', 'docs-1ab2.svc.us-east1-gcp.pinecone.io', 'docs-1ab2.svc.aped-4627-b74a.pinecone.io'],
  ['pinterest', 'api-sandbox.pinterest.com'],
  [
    'plivo',
    'phlorunner.plivo.com',
    'stats.plivo.com',
    'voice.plivo.com',
    'voice-use1.plivo.com',
    'voice-usw1.plivo.com',
  ],
  ['polar', 'sandbox-api.polar.sh'],
  ['portkey', 'mcp.portkey.ai'],
  ['posthog', 'eu.i.posthog.com', 'us.i.posthog.com'],
  ['postman', 'api.eu.postman.com', 'api.postman.com'],
  ['quickbase', 'api.quickbase.eu'],
  [
    'quickbooks',
    'qb.api.intuit.com',
    'qb-sandbox.api.intuit.com',
    'api.intuit.com/quickbooks',
    'sandbox.api.intuit.com/quickbooks',
  ],
  ['readme', 'metrics.readme.io'],
  ['readwise', 'mcp2.readwise.io'],
  ['reducto', 'eu.platform.reducto.ai', 'au.platform.reducto.ai'],
  ['requesty', 'router.eu.requesty.ai'],
  ['revenuecat', 'mcp.revenuecat.ai'],
  ['roblox', 'thumbnails.roblox.com'],
  [
    'salesforce',
    'acme.develop.my.salesforce.com',
    'acme.trailblaze.my.salesforce.com',
    'acme.demo.my.salesforce.com',
    'acme.patch.my.salesforce.com',
  ],
  ['salesforce-sandbox', 'acme.scratch.my.salesforce.com'],
  [
    'saucelabs',
    'ondemand.us-west-1.saucelabs.com',
    'ondemand.us-east-4.saucelabs.com',
    'ondemand.eu-central-1.saucelabs.com',
    'saucelabs.com/rest/v1',
  ],
  ['scrapegraphai', 'v2-api.scrapegraphai.com'],
  ['scraperapi', 'datapipeline.scraperapi.com'],
  ['scrapfly', 'browser.scrapfly.io/session', 'browser.scrapfly.io/unblock'],
  ['segmind', 'workflows-api.segmind.com'],
  ['sendgrid', 'api.eu.sendgrid.com'],
  ['smartlead', 'prospect-api.smartlead.ai', 'smartdelivery.smartlead.ai', 'smart-senders.smartlead.ai'],
  ['smartsheet', 'api.smartsheet.au', 'api.smartsheet.eu', 'api.smartsheetgov.com'],
  ['snapchat', 'businessapi.snapchat.com'],
  ['snyk', 'api.au.snyk.io', 'api.eu.snyk.io', 'api.us.snyk.io'],
  ['sonarcloud', 'api.sonarqube.us', 'sonarqube.us/api'],
  ['statsig', 'api.statsig.com'],
  ['storyblok', 'api-ap.storyblok.com', 'api-ca.storyblok.com', 'api-us.storyblok.com', 'app.storyblokchina.cn/v1'],
  ['stytch', 'telemetry.stytch.com'],
  ['surveymonkey', 'api.surveymonkey.ca'],
  ['telnyx', 'api.telnyx.ca', 'api.telnyx.com.au', 'api.telnyx.eu', 'api.telnyx.me'],
  ['terraform-cloud', 'app.eu.terraform.io'],
  ['testrail', 'acme.testrail.com'],
  [
    'tinybird',
    'api.eu-central-1.aws.tinybird.co',
    'api.eu-west-1.aws.tinybird.co',
    'api.ap-east-1.aws.tinybird.co',
    'api.ap-southeast-2.aws.tinybird.co',
    'api.europe-west2.gcp.tinybird.co',
    'api.northamerica-northeast2.gcp.tinybird.co',
  ],
  ['tinybird', 'api.us-east.aws.tinybird.co', 'api.us-west-2.aws.tinybird.co'],
  ['tomtom', 'kr-api.tomtom.com'],
  ['trakt', 'apiz.trakt.tv'],
  ['twelve-data', 'ws.twelvedata.com'],
  ['twitch', 'id.twitch.tv/oauth2/validate', 'id.twitch.tv/oauth2/userinfo'],
  ['typeform', 'api.eu.typeform.com', 'api.typeform.eu'],
  ['urlscan', 'urlscan.io/dom', 'urlscan.io/screenshots'],
  ['v0', 'api.v0.app'],
  ['vapi', 'api.eu.vapi.ai'],
  ['vercel', 'vercel.com/api/v2', 'vercel.com/api/v3', 'vercel.com/api/v8', 'vercel.com/api/v11'],
  ['vercel-ai-gateway', 'eu.ai-gateway.vercel.sh', 'us.ai-gateway.vercel.sh'],
  ['vonage', 'rest.nexmo.com'],
  ['webflow', 'api.eu.webflow.com'],
  ['wistia', 'upload.wistia.com'],
  ['xai', 'us-east-1.api.x.ai'],
  ['yandex', 'webdav.yandex.com', 'webdav.yandex.ru'],
  ['you-com', 'api.you.com'],
  ['zenrows', 'browser.zenrows.com', 'ecommerce.api.zenrows.com', 'realestate.api.zenrows.com', 'serp.api.zenrows.com'],
  [
    'zoom',
    'api-au.zoom.us',
    'api-ca.zoom.us',
    'api-eu.zoom.us',
    'api-in.zoom.us',
    'api-sa.zoom.us',
    'api-sg.zoom.us',
    'api-uk.zoom.us',
    'api-us.zoom.us',
  ],
]

/** Requests to servers of people's own: with which address the login was, and what they carry. */
const EXPECTED_OWN: readonly (readonly [name: string, baseUrl: string, request: string, ...injected: string[]])[] = [
  ['baserow', 'https://acme.test', '/api/database/rows/table/1/', 'Authorization: Token CNRYkey'],
  ['chatwoot', 'https://acme.test', '/api/v1/accounts/1/inboxes', 'api_access_token: CNRYkey'],
  ['confluence-server', 'https://acme.test/wiki', '/wiki/rest/api/content', 'Authorization: Bearer CNRYkey'],
  ['dify', 'https://acme.test/v1', '/v1/chat-messages', 'Authorization: Bearer CNRYkey'],
  ['dynatrace', 'https://acme.test/e/1ab2', '/e/1ab2/api/v2/metrics', 'Authorization: Api-Token CNRYkey'],
  ['elasticsearch', 'https://acme.test:9200', '/_search', 'Authorization: ApiKey CNRYkey'],
  ['firecrawl', 'http://localhost:3002', '/v2/scrape', 'Authorization: Bearer CNRYkey'],
  ['forgejo', 'https://acme.test', '/o/r.git/info/refs', 'Authorization: Basic b2F1dGgyOkNOUllrZXk='],
  ['gitea', 'https://acme.test', '/api/v1/user', 'Authorization: token CNRYkey'],
  ['github', 'https://acme.test', '/api/v3/user', 'Authorization: Bearer CNRYkey'],
  ['gitlab', 'https://acme.test', '/api/v4/user', 'PRIVATE-TOKEN: CNRYkey'],
  ['grafana', 'https://acme.test/grafana', '/grafana/api/dashboards/home', 'Authorization: Bearer CNRYkey'],
  ['grist', 'https://acme.test', '/api/orgs', 'Authorization: Bearer CNRYkey'],
  ['home-assistant', 'http://localhost:8123', '/api/states', 'Authorization: Bearer CNRYkey'],
  ['infisical', 'https://acme.test', '/api/v3/secrets/raw', 'Authorization: Bearer CNRYkey'],
  ['jfrog', 'https://acme.test', '/artifactory/api/repositories', 'Authorization: Bearer CNRYkey'],
  ['jira-server', 'https://acme.test', '/rest/api/2/myself', 'Authorization: Bearer CNRYkey'],
  ['langfuse', 'https://acme.test', '/api/public/traces', 'Authorization: Basic Q05SWXB1YmxpY19rZXk6Q05SWWtleQ=='],
  ['litellm', 'http://localhost:4000', '/v1/models', 'Authorization: Bearer CNRYkey'],
  ['lm-studio', 'http://localhost:1234', '/v1/models', 'Authorization: Bearer CNRYkey'],
  ['mattermost', 'https://acme.test', '/api/v4/users/me', 'Authorization: Bearer CNRYkey'],
  ['mcp-github', 'https://copilot-api.acme.ghe.com', '/mcp', 'Authorization: Bearer CNRYkey'],
  ['meilisearch', 'http://localhost:7700', '/indexes', 'Authorization: Bearer CNRYkey'],
  ['metabase', 'https://acme.test', '/api/user/current', 'x-api-key: CNRYkey'],
  ['n8n', 'https://acme.test', '/api/v1/workflows', 'X-N8N-API-KEY: CNRYkey'],
  ['octopus-deploy', 'https://acme.test', '/api/spaces', 'X-Octopus-ApiKey: CNRYkey'],
  ['ollama', 'http://localhost:11434', '/api/tags', 'Authorization: Bearer CNRYkey'],
  ['openai', 'https://acme.test/v1', '/v1/models', 'Authorization: Bearer CNRYkey'],
  ['plane', 'https://acme.test', '/api/v1/users/me/', 'X-API-Key: CNRYkey'],
  ['plausible', 'https://acme.test', '/api/v1/stats/aggregate', 'Authorization: Bearer CNRYkey'],
  ['posthog', 'https://acme.test', '/api/projects/', 'Authorization: Bearer CNRYkey'],
  ['qdrant', 'https://acme.test:6333', '/collections', 'api-key: CNRYkey'],
  ['sentry', 'https://acme.test', '/api/0/projects/', 'Authorization: Bearer CNRYkey'],
  ['sonarcloud', 'https://acme.test/sonar', '/sonar/api/projects/search', 'Authorization: Bearer CNRYkey'],
  ['sourcegraph', 'https://acme.test', '/.api/graphql', 'Authorization: token CNRYkey'],
  ['supabase-project', 'https://acme.test', '/rest/v1/t', 'apikey: CNRYkey', 'Authorization: Bearer CNRYkey'],
  ['trigger-dev', 'https://acme.test', '/api/v1/runs', 'Authorization: Bearer CNRYkey'],
  ['twenty', 'https://acme.test', '/rest/companies', 'Authorization: Bearer CNRYkey'],
  ['typesense', 'https://acme.test', '/collections', 'X-TYPESENSE-API-KEY: CNRYkey'],
  ['vault', 'https://acme.test:8200', '/v1/secret/data/x', 'X-Vault-Token: CNRYkey'],
  ['vllm', 'http://localhost:8000/v1', '/v1/models', 'Authorization: Bearer CNRYkey'],
  ['weaviate', 'https://acme.test', '/v1/schema', 'Authorization: Bearer CNRYkey'],
  ['zulip', 'https://acme.test', '/api/v1/messages', 'Authorization: Basic Q05SWWVtYWlsOkNOUllrZXk='],
]

/** Hosts of one tenant, by the address of its login. */
const EXPECTED_OF_TENANTS: readonly (readonly [name: string, baseUrl: string, ...hosts: string[]])[] = [
  ['activecampaign', 'https://acme.activehosted.com', 'acme.activehosted.com'],
  [
    'algolia',
    'https://acme.algolia.net',
    'acme.algolia.net',
    'acme-dsn.algolia.net',
    'acme-1.algolianet.com',
    'acme-2.algolianet.com',
    'acme-3.algolianet.com',
  ],
  ['azure-openai', 'https://acme.openai.azure.us', 'acme.openai.azure.us'],
  [
    'chargebee',
    'https://acme.chargebee.com',
    'acme.chargebee.com',
    'acme.ingest.chargebee.com',
    'acme.file-ingest.chargebee.com',
    'acme.grow.chargebee.com',
  ],
  ['convex', 'https://acme.eu-west-1.convex.cloud', 'acme.eu-west-1.convex.cloud'],
  ['databricks', 'https://adb-1.19.azuredatabricks.net', 'adb-1.19.azuredatabricks.net'],
  ['databricks', 'https://1.2.gcp.databricks.com', '1.2.gcp.databricks.com'],
  ['elasticsearch', 'https://a.es.eu-west-1.aws.elastic.cloud', 'a.es.eu-west-1.aws.elastic.cloud'],
  ['elasticsearch', 'https://a.es.us-central1.gcp.cloud.es.io', 'a.es.us-central1.gcp.cloud.es.io'],
  ['okta', 'https://acme.oktapreview.com', 'acme.oktapreview.com'],
  ['qdrant', 'https://a.eu-central.aws.cloud.qdrant.io:6333', 'a.eu-central.aws.cloud.qdrant.io:6333'],
  ['sanity', 'https://acme.api.sanity.io', 'acme.api.sanity.io', 'acme.apicdn.sanity.io'],
  ['snowflake', 'https://xy12345.us-east-1.snowflakecomputing.com', 'xy12345.us-east-1.snowflakecomputing.com'],
  ['snowflake', 'https://xy1.us-east-2.aws.snowflakecomputing.com', 'xy1.us-east-2.aws.snowflakecomputing.com'],
  ['supabase-project', 'https://acme.supabase.co', 'acme.supabase.co', 'acme.storage.supabase.co'],
]

/** What a login or its end needs beside the form of requests: written down from the documentation, as above. */
const EXPECTED_OF_LOGINS: readonly (readonly [name: string, member: string, value: unknown])[] = [
  ['asana', 'revocation_url', 'https://app.asana.com/-/oauth_revoke'],
  ['autodesk', 'revocation_url', 'https://developer.api.autodesk.com/authentication/v2/revoke'],
  ['bamboohr', 'token_url', '{base_url}/token.php?request=token'],
  ['canva', 'revocation_url', 'https://api.canva.com/rest/v1/oauth/revoke'],
  ['canva', 'scopes', ['profile:read']],
  ['coinbase', 'scopes', ['wallet:user:read', 'offline_access']],
  [
    'constant-contact',
    'device_authorization_url',
    'https://authz.constantcontact.com/oauth2/default/v1/device/authorize',
  ],
  ['constant-contact', 'scopes', ['account_read', 'contact_data', 'campaign_data', 'offline_access']],
  ['dailymotion', 'authorization_url', 'https://api.dailymotion.com/oauth/authorize'],
  ['deviantart', 'revocation_url', 'https://www.deviantart.com/oauth2/revoke'],
  ['digitalocean', 'revocation_url', 'https://cloud.digitalocean.com/v1/oauth/revoke'],
  ['docusign-demo', 'token_url', 'https://account-d.docusign.com/oauth/token'],
  ['fathom', 'authorization_url', 'https://fathom.video/external/v1/oauth2/authorize'],
  ['fathom', 'token_url', 'https://fathom.video/external/v1/oauth2/token'],
  ['freshbooks', 'revocation_url', 'https://api.freshbooks.com/auth/oauth/revoke'],
  ['github', 'token_auth_method', 'client_secret_post'],
  [
    'google-forms',
    'scopes',
    ['https://www.googleapis.com/auth/forms.body', 'https://www.googleapis.com/auth/forms.responses.readonly'],
  ],
  ['google-health', 'revocation_url', 'https://oauth2.googleapis.com/revoke'],
  ['gumroad', 'revocation_url', 'https://api.gumroad.com/oauth/revoke'],
  ['helpscout', 'grant', 'client_credentials'],
  ['linear', 'revocation_url', 'https://api.linear.app/oauth/revoke'],
  ['mcp-gitlab', 'scopes', ['mcp']],
  ['mcp-sanity', 'scopes', ['global']],
  ['mcp-zapier', 'resource', 'https://mcp.zapier.com/api/v1/connect'],
  ['notion', 'revocation_url', 'https://api.notion.com/v1/oauth/revoke'],
  ['openstreetmap', 'revocation_url', 'https://www.openstreetmap.org/oauth2/revoke'],
  ['pipedrive', 'revocation_url', 'https://oauth.pipedrive.com/oauth/revoke'],
  ['roblox', 'revocation_url', 'https://apis.roblox.com/oauth/v1/token/revoke'],
  ['sage', 'revocation_url', 'https://oauth.accounting.sage.com/revoke'],
  ['salesforce-sandbox', 'token_url', 'https://test.salesforce.com/services/oauth2/token'],
  ['slack', 'token_url', 'https://slack.com/api/oauth.v2.access'],
  ['slack', 'scope_separator', ','],
  ['trakt', 'authorization_url', 'https://auth.trakt.tv/oauth/authorize'],
  ['trakt', 'token_url', 'https://auth.trakt.tv/oauth/token'],
  ['trakt', 'revocation_url', 'https://auth.trakt.tv/oauth/revoke'],
  ['wave', 'revocation_url', 'https://api.waveapps.com/oauth2/token-revoke/'],
  ['withings-us', 'authorization_url', 'https://account.us.withingsmed.com/oauth2_user/authorize2'],
  ['withings-us', 'token_url', 'https://wbsapi.us.withingsmed.net/v2/oauth2'],
  [
    'xero',
    'scopes',
    [
      'openid',
      'profile',
      'email',
      'offline_access',
      'accounting.invoices',
      'accounting.payments',
      'accounting.banktransactions',
    ],
  ],
  ['yahoo', 'revocation_url', 'https://api.login.yahoo.com/oauth2/revoke'],
]

/** Variables that a client of the vendor's, or its documentation, has for a key. */
const EXPECTED_VARIABLES: readonly (readonly [name: string, ...variables: string[]])[] = [
  ['adyen', 'ADYEN_API_KEY'],
  ['aircall', 'AIRCALL_API_TOKEN', 'AIRCALL_API_ID'],
  ['aiven', 'AIVEN_AUTH_TOKEN'],
  ['anthropic-admin', 'ANTHROPIC_ADMIN_KEY', 'ANTHROPIC_ADMIN_API_KEY'],
  ['asana', 'ASANA_ACCESS_TOKEN'],
  ['autodesk', 'APS_CLIENT_ID', 'APS_CLIENT_SECRET'],
  ['azure-ai-foundry', 'AZURE_AI_API_KEY', 'AZURE_AI_API_BASE'],
  ['azure-openai', 'AZURE_API_KEY', 'AZURE_RESOURCE_NAME'],
  ['baidu-qianfan', 'QIANFAN_BEARER_TOKEN'],
  ['bamboohr', 'BAMBOOHR_API_KEY', 'BAMBOOHR_SUBDOMAIN'],
  ['baserow', 'BASEROW_API_TOKEN'],
  ['better-stack', 'BETTERSTACK_API_TOKEN'],
  ['bigcommerce', 'BIGCOMMERCE_ACCESS_TOKEN'],
  ['bland-ai', 'BLAND_AI_API_KEY'],
  ['braze', 'BRAZE_API_KEY'],
  ['brightdata', 'BRIGHTDATA_API_TOKEN'],
  ['browserless', 'BROWSERLESS_API_KEY'],
  ['builtwith', 'BUILTWITH_API_KEY'],
  ['bunny', 'BUNNYNET_API_KEY'],
  ['callrail', 'CALLRAIL_API_KEY'],
  ['circleci', 'CIRCLE_CLI_TOKEN'],
  ['clickhouse-cloud', 'CLICKHOUSE_TOKEN_SECRET', 'CLICKHOUSE_TOKEN_KEY'],
  [
    'clickhouse-cloud',
    'CLICKHOUSE_TOKEN_SECRET',
    'CLICKHOUSE_TOKEN_KEY',
    'CLICKHOUSE_CLOUD_API_SECRET',
    'CLICKHOUSE_CLOUD_API_KEY',
  ],
  ['codacy', 'CODACY_API_TOKEN'],
  ['coingecko', 'COINGECKO_PRO_API_KEY'],
  ['coingecko-demo', 'COINGECKO_DEMO_API_KEY', 'CG_API_KEY'],
  ['coinmarketcap', 'CMC_API_KEY'],
  ['convex', 'CONVEX_DEPLOYMENT_TOKEN', 'CONVEX_URL', 'NEXT_PUBLIC_CONVEX_URL'],
  ['copper', 'COPPER_API_KEY', 'COPPER_USER_EMAIL'],
  ['cursor-admin', 'CURSOR_ADMIN_API_KEY'],
  ['dashscope', 'ALIBABA_API_KEY'],
  ['diffbot', 'DIFFBOT_API_TOKEN'],
  ['dnsimple', 'DNSIMPLE_TOKEN', 'DNSIMPLE_OAUTH_TOKEN'],
  ['drata', 'DRATA_API_KEY'],
  ['dynatrace', 'DT_ENV_URL'],
  ['elasticsearch', 'ES_URL'],
  ['eventbrite', 'EVENTBRITE_PRIVATE_TOKEN'],
  ['explorium', 'EXPLORIUM_API_KEY'],
  ['expo', 'EXPO_ACCESS_TOKEN'],
  ['fathom', 'FATHOM_API_KEY_AUTH'],
  ['featherless', 'FEATHERLESS_API_KEY'],
  ['featherless', 'FEATHERLESS_AI_API_KEY'],
  ['firecrawl', 'FIRECRAWL_API_URL'],
  ['flutterwave', 'FLW_SECRET_KEY'],
  ['folk', 'FOLK_API_KEY'],
  ['foursquare', 'FOURSQUARE_SERVICE_TOKEN'],
  ['freepik', 'MAGNIFIC_API_KEY'],
  ['front', 'FRONT_API_TOKEN'],
  ['gmicloud', 'GMI_CLOUD_APIKEY'],
  ['gocardless', 'GOCARDLESS_ACCESS_TOKEN'],
  ['google-custom-search', 'GOOGLE_CUSTOM_SEARCH_API_KEY'],
  ['gorgias', 'GORGIAS_API_KEY'],
  ['grist', 'GRIST_API_KEY'],
  ['gumroad', 'GUMROAD_ACCESS_TOKEN'],
  ['harness', 'HARNESS_PLATFORM_API_KEY', 'HARNESS_API_KEY'],
  ['hashnode', 'HASHNODE_PAT', 'HASHNODE_TOKEN'],
  ['helpscout-docs', 'HELPSCOUT_DOCS_API_KEY'],
  ['incident-io', 'INCIDENT_IO_API_KEY'],
  ['jina', 'JINA_AI_API_KEY'],
  ['jira', 'CONFLUENCE_API_TOKEN', 'CONFLUENCE_USERNAME'],
  ['jumpcloud', 'JUMPCLOUD_API_KEY'],
  ['kilo', 'KILOCODE_API_KEY'],
  ['koyeb', 'KOYEB_API_TOKEN'],
  ['lever', 'LEVER_API_KEY'],
  ['lichess', 'LICHESS_API_TOKEN', 'LICHESS_BOT_TOKEN'],
  ['linode', 'LINODE_API_TOKEN'],
  ['luma-agents', 'LUMA_AGENTS_API_KEY'],
  ['mailjet', 'MJ_API_TOKEN'],
  ['mailsac', 'MAILSAC_KEY', 'MAILSAC_API_KEY'],
  ['mercury', 'MERCURY_API_TOKEN'],
  ['messagebird', 'MESSAGEBIRD_API_KEY'],
  ['modelscope', 'MODELSCOPE_API_TOKEN'],
  ['monday', 'monday_token'],
  ['nano-gpt', 'NANOGPT_API_KEY'],
  ['newsapi', 'NEWSAPI_API_KEY'],
  ['octopus-deploy', 'OCTOPUS_APIKEY', 'OCTOPUS_HOST'],
  ['ovh-ai-endpoints', 'OVH_AI_ENDPOINTS_ACCESS_TOKEN'],
  ['parallel', 'PARALLEL_AI_API_KEY'],
  ['people-data-labs', 'PDL_API_KEY'],
  ['pipedrive', 'PIPEDRIVE_API_TOKEN'],
  ['plain', 'PLAIN_TOKEN'],
  ['planetscale', 'PLANETSCALE_SERVICE_TOKEN_NAME'],
  ['polygon', 'MASSIVE_API_KEY'],
  ['posthog', 'POSTHOG_CLI_API_KEY', 'POSTHOG_CLI_TOKEN', 'POSTHOG_CLI_HOST'],
  ['postmark', 'POSTMARK_API_TOKEN', 'POSTMARK_TOKEN'],
  ['productboard', 'PRODUCTBOARD_API_TOKEN'],
  ['pylon', 'PYLON_API_KEY'],
  ['pypi', 'MATURIN_PYPI_TOKEN', 'POETRY_PYPI_TOKEN_PYPI'],
  ['quickbase', 'QUICKBASE_USER_TOKEN'],
  ['readme', 'README_API_KEY'],
  ['recharge', 'RECHARGE_ACCESS_TOKEN'],
  ['recraft', 'RECRAFT_API_KEY'],
  ['recruitee', 'RECRUITEE_API_TOKEN'],
  ['recurly', 'RECURLY_API_KEY'],
  ['rippling', 'RIPPLING_API_TOKEN'],
  ['roblox', 'ROBLOX_API_KEY'],
  ['rollbar', 'ROLLBAR_API_KEY'],
  ['salesloft', 'SALESLOFT_API_KEY'],
  ['sanity', 'SANITY_AUTH_TOKEN'],
  ['scrape-do', 'SCRAPEDO_API_KEY'],
  ['segment', 'SEGMENT_PUBLIC_API_TOKEN'],
  ['semantic-scholar', 'SEMANTIC_SCHOLAR_API_KEY'],
  ['sentinelone', 'PURPLEMCP_CONSOLE_TOKEN', 'PURPLEMCP_CONSOLE_BASE_URL', 'S1_CONSOLE_API_TOKEN', 'S1_CONSOLE_URL'],
  ['socket-dev', 'SOCKET_API_TOKEN', 'SOCKET_CLI_API_TOKEN', 'SOCKET_SECURITY_API_TOKEN', 'SOCKET_SECURITY_API_KEY'],
  ['spider', 'SPIDER_CLOUD_API_KEY'],
  ['square', 'SQUARE_ACCESS_TOKEN'],
  ['statsig', 'STATSIG_CONSOLE_API_KEY'],
  ['statuspage', 'STATUSPAGE_TOKEN'],
  ['storyblok', 'STORYBLOK_PERSONAL_ACCESS_TOKEN'],
  ['surveymonkey', 'SURVEYMONKEY_ACCESS_TOKEN'],
  ['tally', 'TALLY_API_KEY'],
  ['terraform-cloud', 'TF_TOKEN_app_eu_terraform_io'],
  ['testrail', 'TESTRAIL_API_KEY', 'TESTRAIL_EMAIL'],
  ['tinybird', 'TINYBIRD_TOKEN'],
  ['tldv', 'TLDV_API_KEY'],
  ['tomorrow-io', 'TOMORROW_IO_API_KEY'],
  ['travis-ci', 'TRAVIS_API_TOKEN'],
  ['travis-ci', 'TRAVIS_API_TOKEN', 'TRAVIS_TOKEN'],
  ['trigger-dev', 'TRIGGER_API_URL'],
  ['turso', 'TURSO_API_TOKEN', 'TURSO_PLATFORM_TOKEN'],
  ['vercel', 'VERCEL_AUTH_TOKEN'],
  ['vimeo', 'VIMEO_ACCESS_TOKEN'],
  ['vultr-inference', 'VULTR_INFERENCE_API_KEY'],
  ['wave', 'WAVE_ACCESS_TOKEN'],
  ['wise', 'WISE_API_TOKEN'],
  ['wistia', 'WISTIA_API_TOKEN'],
  ['workable', 'WORKABLE_API_TOKEN', 'WORKABLE_SUBDOMAIN'],
  ['wrike', 'WRIKE_ACCESS_TOKEN'],
  ['x', 'X_BEARER_TOKEN', 'TWITTER_BEARER_TOKEN'],
  ['zerotier', 'ZEROTIER_CENTRAL_TOKEN'],
]

/**
 * Keys that must fit the pattern: what gitleaks, trufflehog or the vendor publishes, older forms among them. `{40a}` stands
 * for as many letters, `{10n}` for digits.
 */
const EXPECTED_KEYS: readonly (readonly [name: string, ...forms: string[]])[] = [
  ['airtable', 'pat{14a}.{64a}', 'key{14a}'],
  ['asana', '1/{16n}:{32a}', '2/{16n}/{16n}:{32a}', '0/{32a}'],
  ['aws-bedrock', 'ABSK{109a}', 'bedrock-api-key-{60a}'],
  ['brevo', 'xkeysib-{64a}-{16a}'],
  ['buildkite', 'bkua_{40a}', '{40a}'],
  ['circleci', 'CCIPAT_{22a}_{40a}', '{40a}'],
  ['clickhouse-cloud', '4b1d{38a}'],
  ['cloudflare', 'cfut_{48a}', 'cfat_{48a}', '{40a}'],
  ['contentful', 'CFPAT-{43a}', '{64a}'],
  ['crates-io', 'cio{32a}', 'cio_tp_{32a}'],
  ['databricks', 'dapi{32a}', 'dapi{32a}-2', 'eyJ{40a}.{40a}.{40a}'],
  ['digitalocean', 'dop_v1_{64a}', 'doo_v1_{64a}', '{64a}'],
  ['discord', '{24a}.{6a}.{27a}', '{26a}.{6a}.{38a}'],
  ['dynatrace', 'dt0c01.{24a}.{64a}', '{21a}'],
  ['easypost', 'EZAK{54a}', 'EZTK{54a}', '{22a}'],
  ['elevenlabs', 'sk_{48a}', '{32a}'],
  ['facebook', 'EAAM{100a}', 'EAAC{100a}', '{15n}|{27a}'],
  ['flutterwave', 'FLWSECK-{32a}-X', 'FLWSECK_TEST-{32a}-X'],
  ['fly-io', 'fm2_{100a}', 'FlyV1 fm2_{300a},fm2_{300a}', 'fo1_{43a}', '{43a}'],
  ['github', 'ghp_{36a}', 'gho_{36a}', 'ghu_{36a}', 'ghs_{36a}', 'github_pat_{22a}_{59a}', '{40a}'],
  ['gitlab', 'glpat-{20a}', 'glpat-{27a}.01.{9a}', 'gldt-{20a}', '{20a}'],
  ['gocardless', 'live_{40a}'],
  ['google-gemini', 'AIza{35a}'],
  ['grafana', 'glsa_{32a}_{8a}', 'glc_{60a}', 'eyJrIjoi{70a}'],
  ['harness', 'pat.{22a}.{24a}.{20a}', 'sat.{22a}.{24a}.{20a}'],
  ['heroku', 'HRKU-AA{58a}', '{8a}-{4a}-{4a}-{4a}-{12a}'],
  ['jfrog', 'cmVmd{59a}', 'eyJ{40a}.{40a}.{40a}'],
  ['jira', 'ATATT3{180a}=A{7n}', '{24a}'],
  ['langfuse', 'sk-lf-{8a}-{4a}-{4a}-{4a}-{12a}'],
  ['langsmith', 'lsv2_pt_{32a}_{10a}', 'lsv2_sk_{32a}_{10a}', 'ls__{32a}'],
  ['lob', 'live_{35a}', 'test_{35a}'],
  ['mailchimp', '{32a}-us21', '{32a}-us5'],
  ['mailgun', 'key-{32a}', '{32a}-{8a}-{8a}', '{72a}'],
  ['mapbox', 'pk.{60a}.{22a}', 'sk.{60a}.{22a}'],
  ['monday', 'eyJ{20a}.eyJ{120a}.{43a}', '{32a}'],
  ['netlify', 'nfp_{36a}', '{43a}', '{64a}'],
  ['new-relic', 'NRAK-{27a}', '{64a}'],
  ['okta', '00{40a}'],
  ['pinecone', 'pcsk_{6a}_{63a}', '{8a}-{4a}-{4a}-{4a}-{12a}'],
  ['plaid', '{30a}'],
  ['planetscale', 'pscale_tkn_{43a}'],
  ['posthog', 'phx_{43a}', 'phx_{48a}'],
  ['postmark', '{8a}-{4a}-{4a}-{4a}-{12a}', 'POSTMARK_API_TEST'],
  ['readme', 'rdme_{70a}', '{32a}'],
  ['recharge', 'sk_1x1_{64a}', 'sk_test_10x3_{64a}', '{56a}', '{32a}'],
  ['replicate', 'r8_{37a}', '{40a}'],
  ['scrapfly', 'scp-live-{32a}', '{32a}'],
  ['sentry', 'sntrys_eyJ{100a}_{43a}', 'sntryu_{64a}', '{64a}'],
  ['shopify', 'shpat_{32a}', 'shpca_{32a}', 'shppa_{32a}', '{32a}'],
  ['snyk', '{8a}-{4a}-{4a}-{4a}-{12a}'],
  ['sonarcloud', 'sqco_{59a}', 'squ_{40a}', '{40a}'],
  ['sourcegraph', 'sgp_{16a}_{40a}', 'sgp_local_{40a}', 'sgp_{40a}', 'slk_{64a}', '{40a}'],
  ['square', 'EAAA{60a}', 'sq0atp-{22a}'],
  ['squarespace', '{8a}-{4a}-{4a}-{4a}-{12a}'],
  ['supabase-project', 'sb_secret_{30a}', 'sb_publishable_{30a}', 'eyJ{40a}.{40a}.{40a}'],
  ['tailscale', 'tskey-api-{17a}-{32a}', 'tskey-{12a}-{22a}'],
  ['telegram', '{10n}:{35a}', '{8n}:A{34a}'],
  ['terraform-cloud', '{14a}.atlasv1.{67a}'],
  ['travis-ci', '{22a}'],
  ['typeform', 'tfp_{59a}', '{44a}'],
  ['vercel', '{24a}'],
  ['x', 'AAAAAAAAAAAAAAAAAAAAAA{90a}'],
]

/** Which kind of key that signs each takes, and where what it makes goes. */
const EXPECTED_OF_SIGNING: readonly (readonly [name: string, type: SigningType, request: string])[] = [
  ['aws', 'aws_sigv4', 'bucket.s3.eu-west-1.amazonaws.com/key'],
  ['aws-bedrock', 'aws_sigv4', 'bedrock-runtime.us-east-1.amazonaws.com/model/x/converse'],
  ['github', 'github_app', 'api.github.com/user/repos'],
  ['gmail', 'google_service_account', 'gmail.googleapis.com/gmail/v1/users/me/messages'],
  ['google-admin', 'google_service_account', 'admin.googleapis.com/admin/directory/v1/users'],
  ['google-analytics', 'google_service_account', 'analyticsdata.googleapis.com/v1beta/properties/1:runReport'],
  ['google-bigquery', 'google_service_account', 'bigquery.googleapis.com/bigquery/v2/projects'],
  ['google-calendar', 'google_service_account', 'www.googleapis.com/calendar/v3/calendars/primary/events'],
  ['google-chat', 'google_service_account', 'chat.googleapis.com/v1/spaces'],
  ['google-cloud', 'google_service_account', 'us-central1-aiplatform.googleapis.com/v1/projects/p'],
  ['google-contacts', 'google_service_account', 'people.googleapis.com/v1/people/me'],
  ['google-docs', 'google_service_account', 'docs.googleapis.com/v1/documents/d'],
  ['google-drive', 'google_service_account', 'www.googleapis.com/drive/v3/files'],
  ['google-forms', 'google_service_account', 'forms.googleapis.com/v1/forms/f'],
  ['google-meet', 'google_service_account', 'meet.googleapis.com/v2/spaces/s'],
  ['google-search-console', 'google_service_account', 'searchconsole.googleapis.com/v1/sites'],
  ['google-sheets', 'google_service_account', 'sheets.googleapis.com/v4/spreadsheets/s'],
  ['google-slides', 'google_service_account', 'slides.googleapis.com/v1/presentations/p'],
  ['google-tasks', 'google_service_account', 'tasks.googleapis.com/tasks/v1/users/@me/lists'],
]

/**
 * Where each that takes the id and secret of a client asks for its tokens, how the client shows itself there, and with what
 * scopes and parameters: any field is `CNRY` and its name, a tenant `acme`.
 */
const EXPECTED_OF_CLIENTS: readonly (readonly [name: string, method: string, url: string, ...asked: string[]])[] = [
  ['adobe', POST, 'https://ims-na1.adobelogin.com/ims/token/v3', 'openid,AdobeID,firefly_api,ff_apis'],
  ['auth0', POST, 'https://acme.us.auth0.com/oauth/token', 'audience=https://acme.us.auth0.com/api/v2/'],
  ['auth0-au', POST, 'https://acme.au.auth0.com/oauth/token', 'audience=https://acme.au.auth0.com/api/v2/'],
  ['auth0-ca', POST, 'https://acme.ca.auth0.com/oauth/token', 'audience=https://acme.ca.auth0.com/api/v2/'],
  ['auth0-eu', POST, 'https://acme.eu.auth0.com/oauth/token', 'audience=https://acme.eu.auth0.com/api/v2/'],
  ['auth0-jp', POST, 'https://acme.jp.auth0.com/oauth/token', 'audience=https://acme.jp.auth0.com/api/v2/'],
  ['auth0-uk', POST, 'https://acme.uk.auth0.com/oauth/token', 'audience=https://acme.uk.auth0.com/api/v2/'],
  ['autodesk', BASIC, 'https://developer.api.autodesk.com/authentication/v2/token', 'data:read'],
  [
    'azure-management',
    POST,
    'https://login.microsoftonline.com/CNRYtenant_id/oauth2/v2.0/token',
    'https://management.azure.com/.default',
  ],
  [
    'box',
    POST,
    'https://api.box.com/oauth2/token',
    'box_subject_type=CNRYsubject_type',
    'box_subject_id=CNRYsubject_id',
  ],
  ['databricks', BASIC, 'https://acme.cloud.databricks.com/oidc/v1/token', 'all-apis'],
  ['ebay', BASIC, 'https://api.ebay.com/identity/v1/oauth2/token', 'https://api.ebay.com/oauth/api_scope'],
  [
    'ebay-sandbox',
    BASIC,
    'https://api.sandbox.ebay.com/identity/v1/oauth2/token',
    'https://api.ebay.com/oauth/api_scope',
  ],
  ['greenhouse', BASIC, 'https://auth.greenhouse.io/token', 'sub=CNRYuser_id'],
  ['helpscout', POST, 'https://api.helpscout.net/v2/oauth2/token'],
  [
    'microsoft',
    POST,
    'https://login.microsoftonline.com/CNRYtenant_id/oauth2/v2.0/token',
    'https://graph.microsoft.com/.default',
  ],
  ['okta', 'private_key_jwt', 'https://acme.okta.com/oauth2/v1/token', 'okta.users.read'],
  ['paypal', BASIC, 'https://api-m.paypal.com/v1/oauth2/token'],
  ['paypal-sandbox', BASIC, 'https://api-m.sandbox.paypal.com/v1/oauth2/token'],
  [
    'power-bi',
    POST,
    'https://login.microsoftonline.com/CNRYtenant_id/oauth2/v2.0/token',
    'https://analysis.windows.net/powerbi/api/.default',
  ],
  ['ramp', BASIC, 'https://api.ramp.com/developer/v1/token', 'transactions:read'],
  ['ramp-sandbox', BASIC, 'https://demo-api.ramp.com/developer/v1/token', 'transactions:read'],
  ['reddit', BASIC, 'https://www.reddit.com/api/v1/access_token'],
  ['shopify', POST, 'https://acme.myshopify.com/admin/oauth/access_token'],
  ['spotify', BASIC, 'https://accounts.spotify.com/api/token'],
  ['tailscale', POST, 'https://api.tailscale.com/api/v2/oauth/token'],
  ['twitch', POST, 'https://id.twitch.tv/oauth2/token'],
  ['zoom', BASIC, 'https://zoom.us/oauth/token', 'account_id=CNRYaccount_id'],
]

/** Names of Amazon's that are services, and names there that strangers have. */
const AMAZON_NAMES: readonly (readonly [host: string, name: string | undefined])[] = [
  ['sts.amazonaws.com', 'aws'],
  ['sts.us-gov-west-1.amazonaws.com', 'aws'],
  ['api.ecr.eu-west-1.amazonaws.com', 'aws'],
  ['codecommit.eu-west-1.amazonaws.com', 'aws'],
  ['guardduty.us-gov-west-1.amazonaws.com', 'aws'],
  ['query.timestream.eu-west-1.amazonaws.com', 'aws'],
  ['budgets.amazonaws.com', 'aws'],
  ['global.health.amazonaws.com', 'aws'],
  ['qbusiness.eu-west-1.api.aws', 'aws'],
  ['bucket.s3.amazonaws.com', 'aws'],
  ['bedrock.s3.amazonaws.com', 'aws'],
  ['lambda.s3.eu-west-1.amazonaws.com', 'aws'],
  ['bucket.s3.dualstack.eu-west-1.amazonaws.com', 'aws'],
  ['bedrock.eu-west-1.amazonaws.com', 'aws-bedrock'],
  ['bedrock-mantle.eu-west-1.api.aws', 'aws-bedrock'],
  ['bedrock-agent-runtime.eu-west-1.amazonaws.com', 'aws'],
  ['ec2-198-51-100-1.eu-west-1.compute.amazonaws.com', undefined],
  ['x1.execute-api.eu-west-1.amazonaws.com', undefined],
  ['name-1.eu-west-1.elb.amazonaws.com', undefined],
  ['1.dkr.ecr.eu-west-1.amazonaws.com', undefined],
  ['search-x.eu-west-1.es.amazonaws.com', undefined],
  ['x-ats.iot.eu-west-1.amazonaws.com', undefined],
  ['s3.stranger.amazonaws.com', undefined],
]

type Found = Extract<Match, { kind: 'one' }>

function sent({ provider: { definition }, pattern }: Found): readonly string[] {
  const fields = credentialFields(definition).map(({ name }) => [
    name,
    new Secret(name === 'api_key' ? 'CNRYkey' : `CNRY${name}`),
  ])
  return shown(injectionFor(definition, 'api_key', Object.fromEntries(fields), pattern))
}

function sentWithToken({ provider: { definition }, pattern }: Found): readonly string[] {
  const credential = { access_token: new Secret('CNRYtoken'), client_id: new Secret('CNRYclient') }
  return shown(injectionFor(definition, 'oauth2', credential, pattern))
}

function clientAt(definition: Provider['definition']) {
  const entered = credentialFields(definition, 'client_credentials').map(({ name }): [string, Secret] => [
    name,
    new Secret(name === 'private_key' ? CLIENT_KEY : `CNRY${name}`),
  ])
  const baseUrl = [definition.base_url].flat()[0]?.replace(/\{\w+\}/g, 'acme')
  const party = clientParty(definition, Object.fromEntries(entered), { baseUrl, now: 0 })
  assert.ok(party)
  return party
}

const CLIENT_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()

function shown(places: readonly Place[]): readonly string[] {
  const { headers, query = {} } = toPlainWire({ provider: 'x', connection: 'default', places })
  const yields = new Set(places.flatMap(({ name, onlyIfAbsent }) => (onlyIfAbsent ? [name] : [])))
  return [
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}${yields.has(name) ? ' (if absent)' : ''}`),
    ...Object.entries(query).map(([name, value]) => `?${name}=${value}`),
    ...places.flatMap(({ in: kind, name, value }) => (kind === 'path' ? [`${name} → ${name}${value?.reveal()}`] : [])),
  ]
}

function match(request: string) {
  const slash = request.indexOf('/')
  return bundled.match({ ...authority(request.slice(0, slash), 443), path: request.slice(slash) })
}

/** Without the headers that a definition has for whoever sends none, wherever the request goes: the first tables have those. */
function ofThePlace(injected: readonly string[]): readonly string[] {
  return injected.filter((line) => !line.endsWith(' (if absent)'))
}

function named(which: (definition: Provider['definition']) => boolean): readonly string[] {
  return bundled.list().flatMap(({ definition }) => (which(definition) ? [definition.name] : []))
}

describe('the bundled providers', () => {
  it('are the same where the daemon reads them as checked before', () => {
    const read = openProviders({
      bundledDir,
      custom: definitionFolder(join(bundledDir, 'none')),
      checked: CHECKED_DEFINITIONS,
    })
    assert.deepEqual(read.list(), bundled.list())
  })

  it('all parse', () => {
    assert.deepEqual(bundled.health(), { issues: [], warnings: [] })
  })

  it('are those of the table below', () => {
    assert.deepEqual(
      named((definition) => hasKey(definition) && definition.hosts.length > 0),
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
      assert.deepEqual(found.kind === 'one' && sent(found), injected)
    })

  for (const [name, request, ...injected] of EXPECTED_OF_TOKENS)
    it(`${name} sends its token as its documentation says`, () => {
      const found = match(request)
      assert.equal(found.kind === 'one' && found.provider.definition.name, name)
      assert.deepEqual(found.kind === 'one' && sentWithToken(found), injected)
    })

  it('have a form of their own on the hosts of the third table and on no others', () => {
    assert.deepEqual(
      named(({ hosts, injections = [] }) =>
        injections.some(
          (entry) => entry.type !== 'path' && entry.hosts !== undefined && entry.hosts.length < hosts.length,
        ),
      ),
      [...new Set(EXPECTED_ELSEWHERE.map(([name]) => name))],
    )
  })

  for (const [name, request, ofKey, ofToken] of EXPECTED_ELSEWHERE)
    it(`${name} sends to ${request} what its documentation says`, () => {
      const found = match(request)
      assert.equal(found.kind === 'one' && found.provider.definition.name, name)
      assert.deepEqual(found.kind === 'one' && ofThePlace(sent(found)), [ofKey])
      if (ofToken !== undefined) assert.deepEqual(found.kind === 'one' && ofThePlace(sentWithToken(found)), [ofToken])
    })

  for (const request of [
    'ghcr.io/v2/acme/app/manifests/1',
    'ghcr.io/tokens',
    'ghcr.io/token/../v2/acme/app/blobs/uploads/',
    'registry-1.docker.io/v2/acme/app/manifests/1',
    'auth.docker.io/',
    'quay.io/v2/acme/app/manifests/1',
    'registry.gitlab.com/v2/acme/app/manifests/1',
    'index.crates.io/config.json',
    'pypi.org/simple/',
  ])
    it(`send nothing to ${request}, where clients bring a token of the registry, or none`, () => {
      assert.equal(match(request).kind, 'none')
    })

  for (const [name, ...hosts] of EXPECTED_TOO)
    for (const host of hosts)
      it(`${name} is for ${host} too`, () => {
        const found = match(`${host}/`)
        assert.equal(found.kind === 'one' && found.provider.definition.name, name)
      })

  for (const [name, member, value] of EXPECTED_OF_LOGINS)
    it(`${name} has the ${member} of its documentation`, () => {
      assert.deepEqual(new Map(Object.entries(bundled.get(name).definition.oauth ?? {})).get(member), value)
    })

  it('are on servers of people’s own where the table of those says so', () => {
    assert.deepEqual(
      named(({ self_hosted }) => self_hosted !== undefined),
      EXPECTED_OWN.map(([name]) => name),
    )
  })

  for (const [name, baseUrl, path, ...injected] of EXPECTED_OWN)
    it(`${name} sends to a server of one’s own what its documentation says`, () => {
      const provider = bundled.get(name)
      const url = parseBaseUrl(provider.definition, baseUrl, bundled.list())
      const target = { ...authorityOfUrl(new URL(url)), path }
      const place = ownPlaceFor(ownPlaces(provider.definition, url), target)
      assert.deepEqual(place && sent({ kind: 'one', provider, pattern: place.like }), injected)
    })

  for (const [name, baseUrl, ...hosts] of EXPECTED_OF_TENANTS)
    it(`${name} at ${baseUrl} has the hosts of its documentation`, () => {
      const { definition } = bundled.get(name)
      assert.deepEqual(credentialHosts(definition, parseBaseUrl(definition, baseUrl)).map(formatPattern), hosts)
      for (const host of hosts) {
        const found = bundled.match({ ...authorityOfUrl(new URL(`https://${host}`)), path: '/' })
        assert.equal(found.kind === 'one' && found.provider.definition.name, name)
      }
    })

  for (const [name, ...variables] of EXPECTED_VARIABLES)
    it(`${name} is found by ${variables.join(', ')}`, () => {
      const { env = {} } = bundled.get(name).definition
      assert.deepEqual(
        variables.filter((variable) => !Object.hasOwn(env, variable)),
        [],
      )
    })

  for (const [name, ...forms] of EXPECTED_KEYS)
    it(`${name} takes keys of every form that is published, and no other paste`, () => {
      const pattern = compileKeyPattern(bundled.get(name).definition.api_key?.pattern ?? '')
      const keys = forms.map((form) =>
        form.replace(/\{(\d+)([an])\}/g, (_, count, kind) => (kind === 'n' ? '1' : 'a').repeat(Number(count))),
      )
      assert.deepEqual(
        keys.filter((key) => !pattern(key)),
        [],
      )
      for (const paste of ['', 'changeme', 'https://example.com/keys', 'my key', `export KEY=${keys[0]}`])
        assert.equal(pattern(paste), false, paste)
    })

  for (const name of ['fitbit', 'github-models'])
    it(`have none of ${name}, which ended in 2026`, () => {
      assert.equal(bundled.find(name), undefined)
    })

  it('take a key that signs where the fourth table says so', () => {
    assert.deepEqual(
      bundled.list().flatMap(({ definition: { name, signing } }) => (signing ? [[name, signing.type]] : [])),
      EXPECTED_OF_SIGNING.map(([name, type]) => [name, type]),
    )
  })

  for (const [name, type, request] of EXPECTED_OF_SIGNING)
    it(`${name} has what its key makes for ${request}`, () => {
      const found = match(request)
      assert.equal(found.kind === 'one' && found.provider.definition.name, name)
      if (type !== 'aws_sigv4')
        assert.deepEqual(found.kind === 'one' && sentWithToken(found), ['Authorization: Bearer CNRYtoken'])
    })

  for (const [host, name] of AMAZON_NAMES)
    it(`${name ?? 'none'} is for ${host}`, () => {
      const found = match(`${host}/`)
      assert.equal(found.kind === 'one' ? found.provider.definition.name : undefined, name)
    })

  it('take the id and secret of a client where the fifth table says so', () => {
    assert.deepEqual(
      named(grantsToClients),
      EXPECTED_OF_CLIENTS.map(([name]) => name),
    )
  })

  for (const [name, method, url, ...asked] of EXPECTED_OF_CLIENTS)
    it(`${name} asks for the tokens of a client as its documentation says`, () => {
      const { definition } = bundled.get(name)
      const { server, client, parameters } = clientAt(definition)
      const scopes = clientScopes(definition).join(definition.oauth?.scope_separator ?? ' ')
      const said = Object.entries(parameters).map(([parameter, value]) => `${parameter}=${value}`)
      assert.deepEqual([client.auth, server.tokenUrl], [method, url])
      assert.deepEqual([...(scopes === '' ? [] : [scopes]), ...said], asked)
    })

  it('take only https for their endpoints, and ask for no secret where the client is public', () => {
    for (const { definition } of bundled.list()) {
      const { scopes: _, ...oauth } = definition.oauth ?? { scopes: [] }
      const urls = Object.entries(oauth).filter(([name]) => name.endsWith('_url') || name === 'issuer')
      for (const [name, url] of urls)
        assert.match(String(url), /^(?:https:|\{base_url\})\//, `${definition.name} ${name}`)
      if (definition.signing && 'token_url' in definition.signing)
        assert.match(definition.signing.token_url, /^https:/, definition.name)
    }
  })

  for (const [name, request] of [
    ...EXPECTED,
    ...EXPECTED_OF_TOKENS,
    ...EXPECTED_OF_SIGNING.map(([name, , request]) => [name, request] as const),
  ])
    it(`${name} sends nothing to a host that looks like its own`, () => {
      assert.equal(match(request.replace('/', '.evil.test/')).kind, 'none')
    })

  it('say where a key or an app is made, but for one whose pages are each customer’s own', () => {
    const silent = bundled.list().filter(({ definition }) => definition.docs_url === undefined)
    assert.deepEqual(
      silent.map(({ definition }) => definition.name),
      ['sentinelone'],
    )
  })

  it('say when they were verified, on a day that has been, and by which pages', () => {
    const today = new Date().toISOString().slice(0, 10)
    const odd = named(
      ({ last_verified: day, sources }) => (day === undefined) !== (sources === undefined) || (day ?? '') > today,
    )
    assert.deepEqual(odd, [])
    assert.ok(named(({ last_verified }) => last_verified !== undefined).length > 0)
  })

  it('never tie', () => {
    const pairs = bundled.list().flatMap((one, index) =>
      bundled
        .list()
        .slice(index + 1)
        .map((other) => [one, other] as const),
    )
    const tied = pairs.filter(
      ([one, other]) =>
        !isOneFamily(one.definition, other.definition) &&
        one.hosts.some((ours) => other.hosts.some((theirs) => tie(ours, theirs))),
    )
    assert.deepEqual(
      tied.map(([one, other]) => `${one.definition.name} ${other.definition.name}`),
      [],
    )
  })

  it('are parts of Google, where they are products of it: its login serves each of their hosts', () => {
    const google = bundled.get('google')
    const parts = bundled.list().filter(({ definition }) => definition.part_of === 'google')
    assert.equal(parts.length, 18)
    const loose = parts.filter(({ definition }) => !isPartOf(definition, google.definition))
    assert.deepEqual(loose, [])
    const unserved = parts.flatMap(({ hosts }) =>
      hosts.filter(
        ({ hostPattern, pathPrefix }) =>
          bundled.match(
            { ...authority(hostPattern, 443), path: `${pathPrefix ?? '/'}x` },
            ({ definition }) => definition.name === 'google',
          ).kind !== 'one',
      ),
    )
    assert.deepEqual(unserved, [])
  })

  it('never want the same environment variable', () => {
    const variables = bundled.list().flatMap(({ definition }) => Object.keys(definition.env ?? {}))
    assert.deepEqual(variables, [...new Set(variables)])
  })

  it('accept the example of a key that they show', () => {
    for (const { definition } of bundled.list().filter(({ definition }) => definition.api_key?.example !== undefined)) {
      const key = definition.api_key?.example ?? ''
      const entered = credentialFields(definition).map(({ name }) => [name, name === 'api_key' ? key : 'a'])
      assert.ok(parseCredential(definition, secretInput(Object.fromEntries(entered))), definition.name)
    }
  })

  it('bind the credential of a tenant to that tenant', () => {
    const jira = bundled.find('jira')
    assert.ok(jira)
    const [host] = credentialHosts(jira.definition, 'https://acme.atlassian.net')
    assert.ok(host)
    assert.equal(formatPattern(host), 'acme.atlassian.net')
    assert.equal(matchesHost(host.hostPattern, 'evil.atlassian.net'), false)
  })
})
