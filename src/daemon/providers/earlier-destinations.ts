/** Made by `npm run moved`: by provider, what its credentials were bound to under earlier definitions. */
export const EARLIER_DESTINATIONS: Readonly<Record<string, readonly EarlierDestination[]>> = {
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
  bitbucket: [
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
  'google-calendar': [
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
  'google-cloud': [
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
  'google-drive': [
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
      hosts: ['api.tinybird.co', 'api.us-east.tinybird.co'],
      injections: [],
    },
  ],
  twitch: [
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
}

export interface EarlierDestination {
  readonly auth_type: string
  readonly [member: string]: unknown
}
