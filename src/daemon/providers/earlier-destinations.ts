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
      hosts: ['api.axiom.co'],
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
      hosts: ['api.braintrust.dev'],
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
}

export interface EarlierDestination {
  readonly auth_type: string
  readonly [member: string]: unknown
}
