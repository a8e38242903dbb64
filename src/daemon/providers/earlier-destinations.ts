/** Made by `npm run moved`: by provider, what its credentials were bound to under earlier definitions. */
export const EARLIER_DESTINATIONS: Readonly<Record<string, readonly EarlierDestination[]>> = {
  '302ai': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.302.ai'],
      injections: [],
    },
  ],
  activecampaign: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'api-token',
      },
      auth_type: 'api_key',
      base_url: 'https://{account}.api-us1.com',
      flow: 'api_key',
      format: 1,
      hosts: ['*.api-us1.com'],
      injections: [],
    },
  ],
  adobe: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['audio-video-api.adobe.io', 'firefly-api.adobe.io', 'image.adobe.io'],
      injections: ['{"name":"x-api-key","type":"header","value":"{oauth_client_id}"}'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_post',
        token_url: 'https://ims-na1.adobelogin.com/ims/token/v3',
      },
    },
    {
      auth_type: 'client_credentials',
      format: 1,
      hosts: ['audio-video-api.adobe.io', 'firefly-api.adobe.io', 'image.adobe.io'],
      injections: ['{"name":"x-api-key","type":"header","value":"{oauth_client_id}"}'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_url: 'https://ims-na1.adobelogin.com/ims/token/v3',
      },
    },
  ],
  adyen: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: [
        '*.adyenpayments.com',
        'checkout-test.adyen.com',
        'management-live.adyen.com',
        'management-test.adyen.com',
      ],
      injections: [],
    },
  ],
  affinity: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.affinity.co/v2/*'],
      injections: [],
    },
  ],
  agentmail: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.agentmail.to'],
      injections: [],
    },
  ],
  aihubmix: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['aihubmix.com/v1/*'],
      injections: [],
    },
  ],
  airtable: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.airtable.com'],
      injections: [],
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.airtable.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_url: 'https://airtable.com/oauth2/v1/token',
      },
    },
  ],
  alchemy: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: [
        '*.g.alchemy.com/data/v1/*',
        '*.g.alchemy.com/nft/v3/*',
        '*.g.alchemy.com/prices/v1/*',
        '*.g.alchemy.com/v2/*',
      ],
      injections: [
        '{"hosts":["*.g.alchemy.com/data/v1/*"],"prefix":"/data/v1/","type":"path"}',
        '{"hosts":["*.g.alchemy.com/nft/v3/*"],"prefix":"/nft/v3/","type":"path"}',
        '{"hosts":["*.g.alchemy.com/prices/v1/*"],"prefix":"/prices/v1/","type":"path"}',
        '{"hosts":["*.g.alchemy.com/v2/*"],"prefix":"/v2/","type":"path"}',
      ],
    },
  ],
  algolia: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-algolia-api-key',
      },
      auth_type: 'api_key',
      base_url: 'https://{app_id}.algolia.net',
      flow: 'api_key',
      format: 1,
      hosts: ['*.algolia.net'],
      injections: ['{"name":"X-Algolia-Application-Id","type":"header","value":"{app_id}"}'],
    },
  ],
  'alpha-vantage': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        query_param: 'apikey',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['www.alphavantage.co'],
      injections: [],
    },
  ],
  apify: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.apify.com'],
      injections: [],
    },
  ],
  asana: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['app.asana.com/api/*'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_post',
        token_url: 'https://app.asana.com/-/oauth_token',
      },
    },
  ],
  assemblyai: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.assemblyai.com', 'streaming.assemblyai.com'],
      injections: [],
    },
  ],
  autodesk: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['developer.api.autodesk.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_url: 'https://developer.api.autodesk.com/authentication/v2/token',
      },
    },
  ],
  'aws-bedrock': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['bedrock-runtime.*.amazonaws.com', 'bedrock.*.amazonaws.com'],
      injections: [],
    },
    {
      auth_type: 'signing',
      format: 1,
      hosts: ['bedrock-runtime.*.amazonaws.com', 'bedrock.*.amazonaws.com'],
      signing: {
        type: 'aws_sigv4',
      },
    },
  ],
  axiom: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.axiom.co', 'eu-central-1.aws.edge.axiom.co', 'us-east-1.aws.edge.axiom.co'],
      injections: [],
    },
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.axiom.co'],
      injections: [],
    },
  ],
  basecamp: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['3.basecampapi.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_post',
        token_url: 'https://launchpad.37signals.com/authorization/token',
      },
    },
  ],
  baseten: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Api-Key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['*.api.baseten.co', 'api.baseten.co', 'inference.baseten.co'],
      injections: [],
    },
  ],
  bigcommerce: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-auth-token',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.bigcommerce.com'],
      injections: [],
    },
  ],
  bitbucket: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.bitbucket.org', 'bitbucket.org'],
      injections: ['{"hosts":["bitbucket.org"],"password":"{api_key}","type":"basic","username":"x-token-auth"}'],
    },
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{email}',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.bitbucket.org', 'bitbucket.org'],
      injections: [
        '{"hosts":["bitbucket.org"],"password":"{api_key}","type":"basic","username":"x-bitbucket-api-token-auth"}',
      ],
    },
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.bitbucket.org'],
      injections: [],
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.bitbucket.org'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_basic',
        token_url: 'https://bitbucket.org/site/oauth2/access_token',
      },
    },
  ],
  'black-forest-labs': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.bfl.ai', 'api.eu.bfl.ai', 'api.us.bfl.ai'],
      injections: [],
    },
  ],
  'bland-ai': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.bland.ai'],
      injections: [],
    },
  ],
  box: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.box.com', 'upload.box.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        revocation_url: 'https://api.box.com/oauth2/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://api.box.com/oauth2/token',
      },
    },
  ],
  braintrust: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api-eu.braintrust.dev', 'api.braintrust.dev'],
      injections: [],
    },
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.braintrust.dev'],
      injections: [],
    },
  ],
  brevo: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.brevo.com'],
      injections: [],
    },
  ],
  'browser-use': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-browser-use-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.browser-use.com'],
      injections: [],
    },
  ],
  browserbase: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-bb-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.browserbase.com'],
      injections: [],
    },
  ],
  browserless: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        query_param: 'token',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['production-ams.browserless.io', 'production-lon.browserless.io', 'production-sfo.browserless.io'],
      injections: [],
    },
  ],
  browserstack: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{username}',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api-cloud.browserstack.com', 'api.browserstack.com', 'hub-cloud.browserstack.com'],
      injections: [],
    },
  ],
  buffer: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.buffer.com'],
      injections: [],
    },
  ],
  buildkite: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.buildkite.com'],
      injections: [],
    },
  ],
  builtwith: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        query_param: 'KEY',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.builtwith.com'],
      injections: [],
    },
  ],
  bunny: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'accesskey',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.bunny.net'],
      injections: [],
    },
  ],
  'cal-com': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.cal.com'],
      injections: [],
    },
  ],
  canva: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.canva.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_basic',
        token_url: 'https://api.canva.com/rest/v1/oauth/token',
      },
    },
  ],
  chargebee: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{api_key}',
      },
      auth_type: 'api_key',
      base_url: 'https://{site}.chargebee.com',
      flow: 'api_key',
      format: 1,
      hosts: ['*.chargebee.com'],
      injections: [],
    },
  ],
  'checkout-com': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.checkout.com', 'api.sandbox.checkout.com'],
      injections: [],
    },
  ],
  chroma: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-chroma-token',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.trychroma.com'],
      injections: [],
    },
  ],
  chutes: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['llm.chutes.ai'],
      injections: [],
    },
  ],
  circleci: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'circle-token',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['circleci.com/api/*'],
      injections: [],
    },
    {
      api_key: {
        encoding: 'none',
        header_name: 'circle-token',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: [
        'circleci.com/api/*',
        'circleci.com/api/v2/*',
        'circleci.com/api/v3/*',
        'circleci.com/graphql-unstable/*',
        'runner.circleci.com/api/*',
      ],
      injections: [
        '{"hosts":["circleci.com/api/v2/*","circleci.com/api/v3/*"],"name":"Authorization","type":"header","value":"Bearer {api_key}"}',
        '{"hosts":["circleci.com/api/v2/*","circleci.com/api/v3/*"],"name":"Circle-Token","type":"header"}',
        '{"hosts":["circleci.com/graphql-unstable/*"],"name":"Authorization","type":"header"}',
      ],
    },
  ],
  cloudinary: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{cloud_key}',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.cloudinary.com'],
      injections: [],
    },
  ],
  'constant-contact': [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.cc.email'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_url: 'https://authz.constantcontact.com/oauth2/default/v1/token',
      },
    },
  ],
  contentful: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.contentful.com', 'upload.contentful.com'],
      injections: [],
    },
  ],
  convex: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Convex',
      },
      auth_type: 'api_key',
      base_url: 'https://{deployment}.convex.cloud',
      flow: 'api_key',
      format: 1,
      hosts: ['*.convex.cloud'],
      injections: [],
    },
  ],
  cursor: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.cursor.com/v0/*', 'api.cursor.com/v1/*'],
      injections: [],
    },
  ],
  'cursor-admin': [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{api_key}',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.cursor.com/analytics/*', 'api.cursor.com/teams/*'],
      injections: [],
    },
  ],
  dailymotion: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.dailymotion.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_post',
        token_url: 'https://api.dailymotion.com/oauth/token',
      },
    },
  ],
  databricks: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      base_url: 'https://{workspace}.cloud.databricks.com',
      flow: 'api_key',
      format: 1,
      hosts: ['*.cloud.databricks.com'],
      injections: [],
    },
    {
      auth_type: 'oauth2',
      base_url: 'https://{workspace}.cloud.databricks.com',
      format: 1,
      hosts: ['*.cloud.databricks.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_basic',
        token_url: '{base_url}/oidc/v1/token',
      },
    },
    {
      auth_type: 'client_credentials',
      base_url: 'https://{workspace}.cloud.databricks.com',
      format: 1,
      hosts: ['*.cloud.databricks.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_url: '{base_url}/oidc/v1/token',
      },
    },
  ],
  datadog: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'dd-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: [
        'api.ap1.datadoghq.com',
        'api.datadoghq.com',
        'api.datadoghq.eu',
        'api.us3.datadoghq.com',
        'api.us5.datadoghq.com',
      ],
      injections: ['{"name":"DD-APPLICATION-KEY","type":"header","value":"{app_key}"}'],
    },
  ],
  dataforseo: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{login}',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.dataforseo.com'],
      injections: [],
    },
  ],
  daytona: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['app.daytona.io/api/*'],
      injections: [],
    },
  ],
  deel: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.letsdeel.com'],
      injections: [],
    },
  ],
  deepgram: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Token',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.deepgram.com'],
      injections: [],
    },
  ],
  deepl: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'DeepL-Auth-Key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api-free.deepl.com', 'api.deepl.com'],
      injections: [],
    },
  ],
  'deno-deploy': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.deno.com'],
      injections: [],
    },
  ],
  deviantart: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['www.deviantart.com/api/*'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_post',
        token_url: 'https://www.deviantart.com/oauth2/token',
      },
    },
  ],
  diffbot: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        query_param: 'token',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.diffbot.com', 'kg.diffbot.com'],
      injections: [],
    },
  ],
  digitalocean: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.digitalocean.com'],
      injections: [],
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.digitalocean.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_post',
        token_url: 'https://cloud.digitalocean.com/v1/oauth/token',
      },
    },
  ],
  docusign: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['*.docusign.net'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_basic',
        token_url: 'https://account.docusign.com/oauth/token',
      },
    },
  ],
  drata: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['public-api.drata.com'],
      injections: [],
    },
  ],
  duffel: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      headers: {
        'Duffel-Version': 'v2',
      },
      hosts: ['api.duffel.com'],
      injections: [],
    },
  ],
  ebay: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.ebay.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_basic',
        token_url: 'https://api.ebay.com/identity/v1/oauth2/token',
      },
    },
    {
      auth_type: 'client_credentials',
      format: 1,
      hosts: ['api.ebay.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_url: 'https://api.ebay.com/identity/v1/oauth2/token',
      },
    },
  ],
  'ebay-sandbox': [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.sandbox.ebay.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_basic',
        token_url: 'https://api.sandbox.ebay.com/identity/v1/oauth2/token',
      },
    },
    {
      auth_type: 'client_credentials',
      format: 1,
      hosts: ['api.sandbox.ebay.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_url: 'https://api.sandbox.ebay.com/identity/v1/oauth2/token',
      },
    },
  ],
  elevenlabs: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'xi-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.elevenlabs.io'],
      injections: [],
    },
  ],
  explorium: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'api_key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.explorium.ai'],
      injections: [],
    },
  ],
  facebook: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['graph-video.facebook.com', 'graph.facebook.com', 'rupload.facebook.com'],
      injections: [
        '{"hosts":["graph-video.facebook.com","graph.facebook.com"],"name":"Authorization","type":"header","value":"Bearer {api_key}"}',
        '{"hosts":["graph-video.facebook.com","graph.facebook.com"],"name":"access_token","type":"query"}',
        '{"hosts":["rupload.facebook.com"],"name":"Authorization","type":"header","value":"OAuth {api_key}"}',
      ],
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['graph-video.facebook.com', 'graph.facebook.com', 'rupload.facebook.com'],
      injections: [
        '{"hosts":["graph-video.facebook.com","graph.facebook.com"],"name":"Authorization","type":"header","value":"Bearer {access_token}"}',
        '{"hosts":["graph-video.facebook.com","graph.facebook.com"],"name":"access_token","type":"query","value":"{access_token}"}',
        '{"hosts":["rupload.facebook.com"],"name":"Authorization","type":"header","value":"OAuth {access_token}"}',
      ],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_post',
        token_url: 'https://graph.facebook.com/v22.0/oauth/access_token',
      },
    },
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['graph.facebook.com'],
      injections: [],
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['graph.facebook.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_post',
        token_url: 'https://graph.facebook.com/v22.0/oauth/access_token',
      },
    },
  ],
  fal: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.fal.ai', 'fal.run', 'queue.fal.run'],
      injections: [],
    },
  ],
  fitbit: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.fitbit.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_basic',
        token_url: 'https://api.fitbit.com/oauth2/token',
      },
    },
  ],
  foursquare: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      headers: {
        'X-Places-Api-Version': '2025-06-17',
      },
      hosts: ['places-api.foursquare.com'],
      injections: [],
    },
  ],
  fred: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        query_param: 'api_key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.stlouisfed.org'],
      injections: [],
    },
  ],
  freepik: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-freepik-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.freepik.com'],
      injections: [],
    },
  ],
  freshbooks: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.freshbooks.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_post',
        token_url: 'https://api.freshbooks.com/auth/oauth/token',
      },
    },
  ],
  github: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.github.com', 'github.com', 'raw.githubusercontent.com', 'uploads.github.com'],
      injections: ['{"hosts":["github.com"],"password":"{access_token}","type":"basic","username":"x-access-token"}'],
      oauth: {
        device_authorization_url: 'https://github.com/login/device/code',
        header_name: 'authorization',
        prefix: 'Bearer',
        token_url: 'https://github.com/login/oauth/access_token',
      },
    },
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.github.com', 'raw.githubusercontent.com', 'uploads.github.com'],
      injections: [],
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.github.com', 'raw.githubusercontent.com', 'uploads.github.com'],
      oauth: {
        device_authorization_url: 'https://github.com/login/device/code',
        header_name: 'authorization',
        prefix: 'Bearer',
        token_url: 'https://github.com/login/oauth/access_token',
      },
    },
  ],
  'github-models': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['models.github.ai'],
      injections: [],
    },
  ],
  gitlab: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'private-token',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['gitlab.com/api/*'],
      injections: [],
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['gitlab.com/api/*'],
      oauth: {
        device_authorization_url: 'https://gitlab.com/oauth/authorize_device',
        header_name: 'authorization',
        prefix: 'Bearer',
        revocation_url: 'https://gitlab.com/oauth/revoke',
        token_url: 'https://gitlab.com/oauth/token',
      },
    },
  ],
  gmail: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['gmail.googleapis.com', 'www.googleapis.com/gmail/*'],
      oauth: {
        header_name: 'authorization',
        issuer: 'https://accounts.google.com',
        prefix: 'Bearer',
        revocation_url: 'https://oauth2.googleapis.com/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth2.googleapis.com/token',
      },
    },
    {
      auth_type: 'signing',
      format: 1,
      header_name: 'authorization',
      hosts: ['gmail.googleapis.com', 'www.googleapis.com/gmail/*'],
      injections: [],
      prefix: 'Bearer',
      signing: {
        scopes: ['https://www.googleapis.com/auth/gmail.modify'],
        token_url: 'https://oauth2.googleapis.com/token',
        type: 'google_service_account',
      },
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['gmail.googleapis.com', 'www.googleapis.com/gmail/*'],
      oauth: {
        device_authorization_url: 'https://oauth2.googleapis.com/device/code',
        header_name: 'authorization',
        issuer: 'https://accounts.google.com',
        prefix: 'Bearer',
        revocation_url: 'https://oauth2.googleapis.com/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth2.googleapis.com/token',
      },
    },
  ],
  godaddy: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'sso-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.godaddy.com', 'api.ote-godaddy.com'],
      injections: [],
    },
  ],
  gong: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{access_key}',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.gong.io'],
      injections: [],
    },
  ],
  google: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: [
        'admin.googleapis.com',
        'aiplatform.googleapis.com',
        'analyticsadmin.googleapis.com',
        'analyticsdata.googleapis.com',
        'androidpublisher.googleapis.com',
        'artifactregistry.googleapis.com',
        'asia-northeast1-aiplatform.googleapis.com',
        'asia-southeast1-aiplatform.googleapis.com',
        'bigquery.googleapis.com',
        'bigquerydatatransfer.googleapis.com',
        'bigquerystorage.googleapis.com',
        'calendar-json.googleapis.com',
        'chat.googleapis.com',
        'classroom.googleapis.com',
        'cloudbilling.googleapis.com',
        'cloudbuild.googleapis.com',
        'cloudfunctions.googleapis.com',
        'cloudidentity.googleapis.com',
        'cloudkms.googleapis.com',
        'cloudresourcemanager.googleapis.com',
        'cloudscheduler.googleapis.com',
        'cloudtasks.googleapis.com',
        'compute.googleapis.com',
        'container.googleapis.com',
        'dataflow.googleapis.com',
        'discoveryengine.googleapis.com',
        'dns.googleapis.com',
        'docs.googleapis.com',
        'documentai.googleapis.com',
        'drive.googleapis.com',
        'driveactivity.googleapis.com',
        'europe-west1-aiplatform.googleapis.com',
        'europe-west2-aiplatform.googleapis.com',
        'europe-west3-aiplatform.googleapis.com',
        'europe-west4-aiplatform.googleapis.com',
        'europe-west9-aiplatform.googleapis.com',
        'fcm.googleapis.com',
        'firebase.googleapis.com',
        'firebasehosting.googleapis.com',
        'firebaserules.googleapis.com',
        'firestore.googleapis.com',
        'forms.googleapis.com',
        'gmail.googleapis.com',
        'health.googleapis.com',
        'iam.googleapis.com',
        'iamcredentials.googleapis.com',
        'identitytoolkit.googleapis.com',
        'keep.googleapis.com',
        'language.googleapis.com',
        'logging.googleapis.com',
        'meet.googleapis.com',
        'monitoring.googleapis.com',
        'openidconnect.googleapis.com',
        'people.googleapis.com',
        'photoslibrary.googleapis.com',
        'pubsub.googleapis.com',
        'run.googleapis.com',
        'script.googleapis.com',
        'searchconsole.googleapis.com',
        'secretmanager.googleapis.com',
        'serviceusage.googleapis.com',
        'sheets.googleapis.com',
        'slides.googleapis.com',
        'spanner.googleapis.com',
        'speech.googleapis.com',
        'sqladmin.googleapis.com',
        'storage.googleapis.com',
        'tagmanager.googleapis.com',
        'tasks.googleapis.com',
        'texttospeech.googleapis.com',
        'translate.googleapis.com',
        'translation.googleapis.com',
        'us-central1-aiplatform.googleapis.com',
        'us-east1-aiplatform.googleapis.com',
        'us-east4-aiplatform.googleapis.com',
        'us-east5-aiplatform.googleapis.com',
        'us-west1-aiplatform.googleapis.com',
        'us-west4-aiplatform.googleapis.com',
        'videointelligence.googleapis.com',
        'vision.googleapis.com',
        'workspaceevents.googleapis.com',
        'www.googleapis.com',
        'youtube.googleapis.com',
      ],
      oauth: {
        header_name: 'authorization',
        issuer: 'https://accounts.google.com',
        prefix: 'Bearer',
        revocation_url: 'https://oauth2.googleapis.com/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth2.googleapis.com/token',
      },
    },
  ],
  'google-bigquery': [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['bigquery.googleapis.com', 'www.googleapis.com/bigquery/*'],
      oauth: {
        header_name: 'authorization',
        issuer: 'https://accounts.google.com',
        prefix: 'Bearer',
        revocation_url: 'https://oauth2.googleapis.com/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth2.googleapis.com/token',
      },
    },
    {
      auth_type: 'signing',
      format: 1,
      header_name: 'authorization',
      hosts: ['bigquery.googleapis.com', 'www.googleapis.com/bigquery/*'],
      injections: [],
      prefix: 'Bearer',
      signing: {
        scopes: ['https://www.googleapis.com/auth/bigquery'],
        token_url: 'https://oauth2.googleapis.com/token',
        type: 'google_service_account',
      },
    },
  ],
  'google-calendar': [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['calendar-json.googleapis.com', 'www.googleapis.com/batch/calendar/*', 'www.googleapis.com/calendar/*'],
      oauth: {
        header_name: 'authorization',
        issuer: 'https://accounts.google.com',
        prefix: 'Bearer',
        revocation_url: 'https://oauth2.googleapis.com/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth2.googleapis.com/token',
      },
    },
    {
      auth_type: 'signing',
      format: 1,
      header_name: 'authorization',
      hosts: ['calendar-json.googleapis.com', 'www.googleapis.com/batch/calendar/*', 'www.googleapis.com/calendar/*'],
      injections: [],
      prefix: 'Bearer',
      signing: {
        scopes: ['https://www.googleapis.com/auth/calendar'],
        token_url: 'https://oauth2.googleapis.com/token',
        type: 'google_service_account',
      },
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['calendar-json.googleapis.com', 'www.googleapis.com/calendar/*'],
      oauth: {
        header_name: 'authorization',
        issuer: 'https://accounts.google.com',
        prefix: 'Bearer',
        revocation_url: 'https://oauth2.googleapis.com/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth2.googleapis.com/token',
      },
    },
    {
      auth_type: 'signing',
      format: 1,
      header_name: 'authorization',
      hosts: ['calendar-json.googleapis.com', 'www.googleapis.com/calendar/*'],
      injections: [],
      prefix: 'Bearer',
      signing: {
        scopes: ['https://www.googleapis.com/auth/calendar'],
        token_url: 'https://oauth2.googleapis.com/token',
        type: 'google_service_account',
      },
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['calendar-json.googleapis.com', 'www.googleapis.com/calendar/*'],
      oauth: {
        device_authorization_url: 'https://oauth2.googleapis.com/device/code',
        header_name: 'authorization',
        issuer: 'https://accounts.google.com',
        prefix: 'Bearer',
        revocation_url: 'https://oauth2.googleapis.com/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth2.googleapis.com/token',
      },
    },
  ],
  'google-chat': [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['chat.googleapis.com'],
      oauth: {
        header_name: 'authorization',
        issuer: 'https://accounts.google.com',
        prefix: 'Bearer',
        revocation_url: 'https://oauth2.googleapis.com/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth2.googleapis.com/token',
      },
    },
    {
      auth_type: 'signing',
      format: 1,
      header_name: 'authorization',
      hosts: ['chat.googleapis.com'],
      injections: [],
      prefix: 'Bearer',
      signing: {
        scopes: ['https://www.googleapis.com/auth/chat.messages'],
        token_url: 'https://oauth2.googleapis.com/token',
        type: 'google_service_account',
      },
    },
  ],
  'google-cloud': [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: [
        'aiplatform.googleapis.com',
        'artifactregistry.googleapis.com',
        'asia-northeast1-aiplatform.googleapis.com',
        'asia-southeast1-aiplatform.googleapis.com',
        'cloudbuild.googleapis.com',
        'cloudfunctions.googleapis.com',
        'cloudkms.googleapis.com',
        'cloudresourcemanager.googleapis.com',
        'compute.googleapis.com',
        'container.googleapis.com',
        'europe-west1-aiplatform.googleapis.com',
        'europe-west2-aiplatform.googleapis.com',
        'europe-west3-aiplatform.googleapis.com',
        'europe-west4-aiplatform.googleapis.com',
        'europe-west9-aiplatform.googleapis.com',
        'firestore.googleapis.com',
        'iam.googleapis.com',
        'iamcredentials.googleapis.com',
        'logging.googleapis.com',
        'monitoring.googleapis.com',
        'pubsub.googleapis.com',
        'run.googleapis.com',
        'secretmanager.googleapis.com',
        'serviceusage.googleapis.com',
        'sqladmin.googleapis.com',
        'storage.googleapis.com',
        'us-central1-aiplatform.googleapis.com',
        'us-east1-aiplatform.googleapis.com',
        'us-east4-aiplatform.googleapis.com',
        'us-east5-aiplatform.googleapis.com',
        'us-west1-aiplatform.googleapis.com',
        'us-west4-aiplatform.googleapis.com',
        'www.googleapis.com/compute/*',
        'www.googleapis.com/storage/*',
      ],
      oauth: {
        header_name: 'authorization',
        issuer: 'https://accounts.google.com',
        prefix: 'Bearer',
        revocation_url: 'https://oauth2.googleapis.com/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth2.googleapis.com/token',
      },
    },
    {
      auth_type: 'signing',
      format: 1,
      header_name: 'authorization',
      hosts: [
        'aiplatform.googleapis.com',
        'artifactregistry.googleapis.com',
        'asia-northeast1-aiplatform.googleapis.com',
        'asia-southeast1-aiplatform.googleapis.com',
        'cloudbuild.googleapis.com',
        'cloudfunctions.googleapis.com',
        'cloudkms.googleapis.com',
        'cloudresourcemanager.googleapis.com',
        'compute.googleapis.com',
        'container.googleapis.com',
        'europe-west1-aiplatform.googleapis.com',
        'europe-west2-aiplatform.googleapis.com',
        'europe-west3-aiplatform.googleapis.com',
        'europe-west4-aiplatform.googleapis.com',
        'europe-west9-aiplatform.googleapis.com',
        'firestore.googleapis.com',
        'iam.googleapis.com',
        'iamcredentials.googleapis.com',
        'logging.googleapis.com',
        'monitoring.googleapis.com',
        'pubsub.googleapis.com',
        'run.googleapis.com',
        'secretmanager.googleapis.com',
        'serviceusage.googleapis.com',
        'sqladmin.googleapis.com',
        'storage.googleapis.com',
        'us-central1-aiplatform.googleapis.com',
        'us-east1-aiplatform.googleapis.com',
        'us-east4-aiplatform.googleapis.com',
        'us-east5-aiplatform.googleapis.com',
        'us-west1-aiplatform.googleapis.com',
        'us-west4-aiplatform.googleapis.com',
        'www.googleapis.com/compute/*',
        'www.googleapis.com/storage/*',
      ],
      injections: [],
      prefix: 'Bearer',
      signing: {
        scopes: ['https://www.googleapis.com/auth/cloud-platform'],
        token_url: 'https://oauth2.googleapis.com/token',
        type: 'google_service_account',
      },
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: [
        'cloudresourcemanager.googleapis.com',
        'compute.googleapis.com',
        'run.googleapis.com',
        'storage.googleapis.com',
        'www.googleapis.com/compute/*',
        'www.googleapis.com/storage/*',
      ],
      oauth: {
        header_name: 'authorization',
        issuer: 'https://accounts.google.com',
        prefix: 'Bearer',
        revocation_url: 'https://oauth2.googleapis.com/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth2.googleapis.com/token',
      },
    },
  ],
  'google-docs': [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['docs.googleapis.com'],
      oauth: {
        header_name: 'authorization',
        issuer: 'https://accounts.google.com',
        prefix: 'Bearer',
        revocation_url: 'https://oauth2.googleapis.com/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth2.googleapis.com/token',
      },
    },
    {
      auth_type: 'signing',
      format: 1,
      header_name: 'authorization',
      hosts: ['docs.googleapis.com'],
      injections: [],
      prefix: 'Bearer',
      signing: {
        scopes: ['https://www.googleapis.com/auth/documents'],
        token_url: 'https://oauth2.googleapis.com/token',
        type: 'google_service_account',
      },
    },
  ],
  'google-drive': [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: [
        'drive.googleapis.com',
        'www.googleapis.com/batch/drive/*',
        'www.googleapis.com/drive/*',
        'www.googleapis.com/upload/drive/*',
      ],
      oauth: {
        header_name: 'authorization',
        issuer: 'https://accounts.google.com',
        prefix: 'Bearer',
        revocation_url: 'https://oauth2.googleapis.com/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth2.googleapis.com/token',
      },
    },
    {
      auth_type: 'signing',
      format: 1,
      header_name: 'authorization',
      hosts: [
        'drive.googleapis.com',
        'www.googleapis.com/batch/drive/*',
        'www.googleapis.com/drive/*',
        'www.googleapis.com/upload/drive/*',
      ],
      injections: [],
      prefix: 'Bearer',
      signing: {
        scopes: ['https://www.googleapis.com/auth/drive'],
        token_url: 'https://oauth2.googleapis.com/token',
        type: 'google_service_account',
      },
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['drive.googleapis.com', 'www.googleapis.com/drive/*', 'www.googleapis.com/upload/drive/*'],
      oauth: {
        header_name: 'authorization',
        issuer: 'https://accounts.google.com',
        prefix: 'Bearer',
        revocation_url: 'https://oauth2.googleapis.com/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth2.googleapis.com/token',
      },
    },
    {
      auth_type: 'signing',
      format: 1,
      header_name: 'authorization',
      hosts: ['drive.googleapis.com', 'www.googleapis.com/drive/*', 'www.googleapis.com/upload/drive/*'],
      injections: [],
      prefix: 'Bearer',
      signing: {
        scopes: ['https://www.googleapis.com/auth/drive'],
        token_url: 'https://oauth2.googleapis.com/token',
        type: 'google_service_account',
      },
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['drive.googleapis.com', 'www.googleapis.com/drive/*', 'www.googleapis.com/upload/drive/*'],
      oauth: {
        device_authorization_url: 'https://oauth2.googleapis.com/device/code',
        header_name: 'authorization',
        issuer: 'https://accounts.google.com',
        prefix: 'Bearer',
        revocation_url: 'https://oauth2.googleapis.com/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth2.googleapis.com/token',
      },
    },
  ],
  'google-forms': [
    {
      auth_type: 'signing',
      format: 1,
      header_name: 'authorization',
      hosts: ['forms.googleapis.com'],
      injections: [],
      prefix: 'Bearer',
      signing: {
        scopes: ['https://www.googleapis.com/auth/forms.body'],
        token_url: 'https://oauth2.googleapis.com/token',
        type: 'google_service_account',
      },
    },
  ],
  'google-gemini': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-goog-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['generativelanguage.googleapis.com'],
      injections: [],
    },
  ],
  'google-maps': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        query_param: 'key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['maps.googleapis.com', 'places.googleapis.com', 'routes.googleapis.com'],
      injections: [],
    },
  ],
  'google-sheets': [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['sheets.googleapis.com'],
      oauth: {
        header_name: 'authorization',
        issuer: 'https://accounts.google.com',
        prefix: 'Bearer',
        revocation_url: 'https://oauth2.googleapis.com/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth2.googleapis.com/token',
      },
    },
    {
      auth_type: 'signing',
      format: 1,
      header_name: 'authorization',
      hosts: ['sheets.googleapis.com'],
      injections: [],
      prefix: 'Bearer',
      signing: {
        scopes: ['https://www.googleapis.com/auth/spreadsheets'],
        token_url: 'https://oauth2.googleapis.com/token',
        type: 'google_service_account',
      },
    },
  ],
  'google-slides': [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['slides.googleapis.com'],
      oauth: {
        header_name: 'authorization',
        issuer: 'https://accounts.google.com',
        prefix: 'Bearer',
        revocation_url: 'https://oauth2.googleapis.com/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth2.googleapis.com/token',
      },
    },
    {
      auth_type: 'signing',
      format: 1,
      header_name: 'authorization',
      hosts: ['slides.googleapis.com'],
      injections: [],
      prefix: 'Bearer',
      signing: {
        scopes: ['https://www.googleapis.com/auth/presentations'],
        token_url: 'https://oauth2.googleapis.com/token',
        type: 'google_service_account',
      },
    },
  ],
  greenhouse: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{api_key}',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['harvest.greenhouse.io'],
      injections: [],
    },
  ],
  gumroad: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.gumroad.com'],
      injections: [],
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.gumroad.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_post',
        token_url: 'https://api.gumroad.com/oauth/token',
      },
    },
  ],
  hashnode: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['gql.hashnode.com'],
      injections: [],
    },
  ],
  helicone: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['ai-gateway.helicone.ai', 'api.helicone.ai'],
      injections: [],
    },
  ],
  helius: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        query_param: 'api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.helius.xyz', 'devnet.helius-rpc.com', 'mainnet.helius-rpc.com'],
      injections: [],
    },
  ],
  hetzner: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.hetzner.cloud'],
      injections: [],
    },
  ],
  honeycomb: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-honeycomb-team',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.honeycomb.io'],
      injections: [],
    },
  ],
  hume: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-hume-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.hume.ai'],
      injections: [],
    },
  ],
  hyperbrowser: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.hyperbrowser.ai', 'app.hyperbrowser.ai/api/*'],
      injections: [],
    },
  ],
  'incident-io': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.incident.io'],
      injections: [],
    },
  ],
  'inference-net': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.inference.net'],
      injections: [],
    },
  ],
  infura: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['*.infura.io/v3/*'],
      injections: ['{"hosts":["*.infura.io/v3/*"],"prefix":"/v3/","type":"path"}'],
    },
  ],
  ipinfo: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.ipinfo.io', 'ipinfo.io'],
      injections: [],
    },
  ],
  jumpcloud: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['console.jumpcloud.com/api/*'],
      injections: [],
    },
  ],
  kagi: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bot',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['kagi.com/api/v0/*'],
      injections: [],
    },
  ],
  klaviyo: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Klaviyo-API-Key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      headers: {
        revision: '2024-07-15',
      },
      hosts: ['a.klaviyo.com'],
      injections: [],
    },
  ],
  langfuse: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{public_key}',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['cloud.langfuse.com', 'us.cloud.langfuse.com'],
      injections: [],
    },
  ],
  langsmith: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.smith.langchain.com', 'eu.api.smith.langchain.com'],
      injections: [],
    },
  ],
  launchdarkly: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['app.launchdarkly.com/api/*'],
      injections: [],
    },
  ],
  lever: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{api_key}',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.lever.co'],
      injections: [],
    },
  ],
  lichess: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['lichess.org/api/*'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'none',
        token_url: 'https://lichess.org/api/token',
      },
    },
  ],
  linear: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.linear.app'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_post',
        token_url: 'https://api.linear.app/oauth/token',
      },
    },
  ],
  llamacloud: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.cloud.llamaindex.ai'],
      injections: [],
    },
  ],
  mailgun: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: 'api',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.eu.mailgun.net', 'api.mailgun.net'],
      injections: [],
    },
  ],
  make: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Token',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['eu1.make.com/api/*', 'eu2.make.com/api/*', 'us1.make.com/api/*', 'us2.make.com/api/*'],
      injections: [],
    },
  ],
  mathpix: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'app_key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.mathpix.com'],
      injections: ['{"name":"app_id","type":"header","value":"{app_id}"}'],
    },
  ],
  'mcp-zapier': [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['mcp.zapier.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        resource: 'https://mcp.zapier.com/api/mcp/mcp',
      },
    },
  ],
  mercury: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.mercury.com'],
      injections: [],
    },
  ],
  mixpanel: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{username}',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: [
        'api-eu.mixpanel.com',
        'api.mixpanel.com',
        'data-eu.mixpanel.com',
        'data.mixpanel.com',
        'eu.mixpanel.com/api/*',
        'mixpanel.com/api/*',
      ],
      injections: [],
    },
  ],
  morph: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.morphllm.com'],
      injections: [],
    },
  ],
  mux: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{token_id}',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.mux.com'],
      injections: [],
    },
  ],
  'nano-gpt': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['nano-gpt.com/api/*'],
      injections: [],
    },
  ],
  ncbi: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        query_param: 'api_key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['eutils.ncbi.nlm.nih.gov'],
      injections: [],
    },
  ],
  notion: [
    {
      auth_type: 'oauth2',
      format: 1,
      headers: {
        'Notion-Version': '2022-06-28',
      },
      hosts: ['api.notion.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_basic',
        token_url: 'https://api.notion.com/v1/oauth/token',
      },
    },
  ],
  novita: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.novita.ai'],
      injections: [],
    },
  ],
  okta: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'SSWS',
      },
      auth_type: 'api_key',
      base_url: 'https://{domain}.okta.com',
      flow: 'api_key',
      format: 1,
      hosts: ['*.okta.com'],
      injections: [],
    },
    {
      auth_type: 'oauth2',
      base_url: 'https://{domain}.okta.com',
      format: 1,
      hosts: ['*.okta.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        revocation_url: '{base_url}/oauth2/v1/revoke',
        token_url: '{base_url}/oauth2/v1/token',
      },
    },
    {
      auth_type: 'client_credentials',
      base_url: 'https://{domain}.okta.com',
      format: 1,
      hosts: ['*.okta.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        revocation_url: '{base_url}/oauth2/v1/revoke',
        token_url: '{base_url}/oauth2/v1/token',
      },
    },
  ],
  omdb: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        query_param: 'apikey',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['www.omdbapi.com'],
      injections: [],
    },
  ],
  openrouter: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['openrouter.ai/api/*'],
      injections: [],
    },
  ],
  openstreetmap: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.openstreetmap.org', 'www.openstreetmap.org/api/*'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_url: 'https://www.openstreetmap.org/oauth2/token',
      },
    },
  ],
  osu: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['osu.ppy.sh/api/*'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_post',
        token_url: 'https://osu.ppy.sh/oauth/token',
      },
    },
  ],
  outscraper: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.app.outscraper.com'],
      injections: [],
    },
  ],
  'ovh-ai-endpoints': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['oai.endpoints.kepler.ai.cloud.ovh.net'],
      injections: [],
    },
  ],
  oxylabs: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{username}',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['realtime.oxylabs.io'],
      injections: [],
    },
  ],
  pagerduty: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Token token=',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.pagerduty.com'],
      injections: [],
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.pagerduty.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_url: 'https://app.pagerduty.com/oauth/token',
      },
    },
  ],
  'people-data-labs': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.peopledatalabs.com'],
      injections: [],
    },
  ],
  pinecone: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.pinecone.io'],
      injections: [],
    },
  ],
  pinterest: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.pinterest.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_basic',
        token_url: 'https://api.pinterest.com/v5/oauth/token',
      },
    },
  ],
  planetscale: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.planetscale.com'],
      injections: [],
    },
  ],
  plivo: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{auth_id}',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.plivo.com'],
      injections: [],
    },
  ],
  poe: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.poe.com'],
      injections: [],
    },
  ],
  polar: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.polar.sh'],
      injections: [],
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.polar.sh'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_url: 'https://api.polar.sh/v1/oauth2/token',
      },
    },
  ],
  portkey: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-portkey-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.portkey.ai'],
      injections: [],
    },
  ],
  posthog: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['app.posthog.com', 'eu.posthog.com', 'us.posthog.com'],
      injections: [],
    },
  ],
  quickbooks: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['quickbooks.api.intuit.com', 'sandbox-quickbooks.api.intuit.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_basic',
        token_url: 'https://oauth.platform.intuit.com/oauth2/v1/tokens/bearer',
      },
    },
  ],
  readme: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{api_key}',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['dash.readme.com/api/*'],
      injections: [],
    },
  ],
  readwise: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Token',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['readwise.io/api/*'],
      injections: [],
    },
  ],
  reducto: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['platform.reducto.ai'],
      injections: [],
    },
  ],
  reka: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.reka.ai'],
      injections: [],
    },
  ],
  requesty: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['router.requesty.ai'],
      injections: [],
    },
  ],
  revenuecat: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.revenuecat.com'],
      injections: [],
    },
  ],
  roblox: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['apis.roblox.com'],
      injections: [],
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['apis.roblox.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_url: 'https://apis.roblox.com/oauth/v1/token',
      },
    },
  ],
  sage: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.accounting.sage.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth.accounting.sage.com/token',
      },
    },
  ],
  salesforce: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['*.my.salesforce.com'],
      oauth: {
        device_authorization_url: 'https://login.salesforce.com/services/oauth2/token',
        header_name: 'authorization',
        prefix: 'Bearer',
        revocation_url: 'https://login.salesforce.com/services/oauth2/revoke',
        token_url: 'https://login.salesforce.com/services/oauth2/token',
      },
    },
  ],
  'salesforce-sandbox': [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['*.sandbox.my.salesforce.com'],
      oauth: {
        device_authorization_url: 'https://test.salesforce.com/services/oauth2/token',
        header_name: 'authorization',
        prefix: 'Bearer',
        revocation_url: 'https://test.salesforce.com/services/oauth2/revoke',
        token_url: 'https://test.salesforce.com/services/oauth2/token',
      },
    },
  ],
  sambanova: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.sambanova.ai'],
      injections: [],
    },
  ],
  saucelabs: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{username}',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.eu-central-1.saucelabs.com', 'api.us-east-4.saucelabs.com', 'api.us-west-1.saucelabs.com'],
      injections: [],
    },
  ],
  scrapegraphai: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'sgai-apikey',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.scrapegraphai.com'],
      injections: [],
    },
  ],
  scrapfly: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        query_param: 'key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.scrapfly.io'],
      injections: [],
    },
  ],
  segmind: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.segmind.com'],
      injections: [],
    },
  ],
  semrush: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        query_param: 'key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.semrush.com'],
      injections: [],
    },
  ],
  sendgrid: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.sendgrid.com'],
      injections: [],
    },
  ],
  serpapi: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        query_param: 'api_key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['serpapi.com'],
      injections: [],
    },
  ],
  similarweb: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        query_param: 'api_key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.similarweb.com'],
      injections: [],
    },
  ],
  smartlead: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        query_param: 'api_key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['server.smartlead.ai'],
      injections: [],
    },
  ],
  smartsheet: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.smartsheet.com'],
      injections: [],
    },
  ],
  snapchat: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['adsapi.snapchat.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_post',
        token_url: 'https://accounts.snapchat.com/login/oauth2/access_token',
      },
    },
  ],
  snowflake: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      base_url: 'https://{account}.snowflakecomputing.com',
      flow: 'api_key',
      format: 1,
      headers: {
        'X-Snowflake-Authorization-Token-Type': 'PROGRAMMATIC_ACCESS_TOKEN',
      },
      hosts: ['*.snowflakecomputing.com'],
      injections: [],
    },
  ],
  snyk: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'token',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.snyk.io'],
      injections: [],
    },
  ],
  sonarcloud: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.sonarcloud.io', 'sonarcloud.io/api/*'],
      injections: [],
    },
  ],
  spider: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.spider.cloud'],
      injections: [],
    },
  ],
  steel: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'steel-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.steel.dev'],
      injections: [],
    },
  ],
  storyblok: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['mapi.storyblok.com'],
      injections: [],
    },
  ],
  stytch: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{project_id}',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.stytch.com', 'test.stytch.com'],
      injections: [],
    },
  ],
  'supabase-project': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'apikey',
      },
      auth_type: 'api_key',
      base_url: 'https://{project_ref}.supabase.co',
      flow: 'api_key',
      format: 1,
      hosts: ['*.supabase.co'],
      injections: ['{"name":"Authorization","type":"header","value":"Bearer {api_key}"}'],
    },
  ],
  surveymonkey: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.eu.surveymonkey.com', 'api.surveymonkey.com'],
      injections: [],
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.eu.surveymonkey.com', 'api.surveymonkey.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_post',
        token_url: 'https://api.surveymonkey.com/oauth/token',
      },
    },
  ],
  synthetic: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.synthetic.new'],
      injections: [],
    },
  ],
  'terraform-cloud': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['app.terraform.io'],
      injections: [],
    },
  ],
  testrail: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{email}',
      },
      auth_type: 'api_key',
      base_url: 'https://{instance}.testrail.io',
      flow: 'api_key',
      format: 1,
      hosts: ['*.testrail.io'],
      injections: [],
    },
  ],
  tinybird: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: [
        'api.eu-central-1.aws.tinybird.co',
        'api.eu-west-1.aws.tinybird.co',
        'api.tinybird.co',
        'api.us-east.aws.tinybird.co',
        'api.us-east.tinybird.co',
        'api.us-west-2.aws.tinybird.co',
      ],
      injections: [],
    },
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.tinybird.co', 'api.us-east.tinybird.co'],
      injections: [],
    },
  ],
  tomtom: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        query_param: 'key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.tomtom.com'],
      injections: [],
    },
  ],
  trakt: [
    {
      auth_type: 'oauth2',
      format: 1,
      headers: {
        'trakt-api-version': '2',
      },
      hosts: ['api.trakt.tv'],
      injections: ['{"name":"trakt-api-key","type":"header","value":"{oauth_client_id}"}'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        revocation_url: 'https://api.trakt.tv/oauth/revoke',
        token_auth_method: 'client_secret_post',
        token_url: 'https://api.trakt.tv/oauth/token',
      },
    },
  ],
  'twelve-data': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        query_param: 'apikey',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.twelvedata.com'],
      injections: [],
    },
  ],
  twitch: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.twitch.tv'],
      injections: ['{"name":"Client-Id","type":"header","value":"{oauth_client_id}"}'],
      oauth: {
        device_authorization_url: 'https://id.twitch.tv/oauth2/device',
        header_name: 'authorization',
        prefix: 'Bearer',
        revocation_url: 'https://id.twitch.tv/oauth2/revoke',
        token_url: 'https://id.twitch.tv/oauth2/token',
      },
    },
    {
      auth_type: 'client_credentials',
      format: 1,
      hosts: ['api.twitch.tv'],
      injections: ['{"name":"Client-Id","type":"header","value":"{oauth_client_id}"}'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        revocation_url: 'https://id.twitch.tv/oauth2/revoke',
        token_url: 'https://id.twitch.tv/oauth2/token',
      },
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.twitch.tv'],
      oauth: {
        device_authorization_url: 'https://id.twitch.tv/oauth2/device',
        header_name: 'authorization',
        prefix: 'Bearer',
        revocation_url: 'https://id.twitch.tv/oauth2/revoke',
        token_url: 'https://id.twitch.tv/oauth2/token',
      },
    },
  ],
  typeform: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.eu.typeform.com', 'api.typeform.com'],
      injections: [],
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.eu.typeform.com', 'api.typeform.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_post',
        token_url: 'https://api.typeform.com/oauth/token',
      },
    },
  ],
  v0: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.v0.dev'],
      injections: [],
    },
  ],
  vapi: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.vapi.ai'],
      injections: [],
    },
  ],
  vercel: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.vercel.com'],
      injections: [],
    },
  ],
  'vercel-ai-gateway': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['ai-gateway.vercel.sh'],
      injections: [],
    },
  ],
  vonage: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: '{consumer_id}',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.nexmo.com'],
      injections: [],
    },
  ],
  wandb: [
    {
      api_key: {
        encoding: 'basic',
        header_name: 'authorization',
        username: 'api',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.wandb.ai'],
      injections: [],
    },
  ],
  webflow: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.webflow.com'],
      injections: [],
    },
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.webflow.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_post',
        token_url: 'https://api.webflow.com/oauth/access_token',
      },
    },
  ],
  wistia: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.wistia.com'],
      injections: [],
    },
  ],
  xai: [
    {
      api_key: {
        encoding: 'none',
        header_name: 'authorization',
        prefix: 'Bearer',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.x.ai'],
      injections: [],
    },
  ],
  yahoo: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['fantasysports.yahooapis.com'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        token_auth_method: 'client_secret_basic',
        token_url: 'https://api.login.yahoo.com/oauth2/get_token',
      },
    },
  ],
  yandex: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['cloud-api.yandex.net', 'login.yandex.ru'],
      oauth: {
        header_name: 'authorization',
        prefix: 'OAuth',
        token_auth_method: 'client_secret_post',
        token_url: 'https://oauth.yandex.com/token',
      },
    },
  ],
  'you-com': [
    {
      api_key: {
        encoding: 'none',
        header_name: 'x-api-key',
      },
      auth_type: 'api_key',
      flow: 'api_key',
      format: 1,
      hosts: ['api.ydc-index.io', 'ydc-index.io'],
      injections: [],
    },
  ],
  zoom: [
    {
      auth_type: 'oauth2',
      format: 1,
      hosts: ['api.zoom.us'],
      oauth: {
        device_authorization_url: 'https://zoom.us/oauth/devicecode',
        header_name: 'authorization',
        prefix: 'Bearer',
        revocation_url: 'https://zoom.us/oauth/revoke',
        token_auth_method: 'client_secret_basic',
        token_url: 'https://zoom.us/oauth/token',
      },
    },
    {
      auth_type: 'client_credentials',
      format: 1,
      hosts: ['api.zoom.us'],
      oauth: {
        header_name: 'authorization',
        prefix: 'Bearer',
        revocation_url: 'https://zoom.us/oauth/revoke',
        token_url: 'https://zoom.us/oauth/token',
      },
    },
  ],
}

export interface EarlierDestination {
  readonly auth_type: string
  readonly [member: string]: unknown
}
