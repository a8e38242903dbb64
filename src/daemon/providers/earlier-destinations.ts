import type { CredentialKind } from './destination-digest.ts'
import type { JsonObject } from './merge-patch.ts'

/**
 * Made by `npm run moved`: by provider and kind, what its credentials were bound to under earlier definitions, newest first,
 * each as the difference (RFC 7396) from the one after it.
 */
export const EARLIER_DESTINATIONS: Readonly<
  Record<string, Readonly<Partial<Record<CredentialKind, readonly JsonObject[]>>>>
> = {
  '302ai': {
    api_key: [
      {
        hosts: ['api.302.ai'],
      },
    ],
  },
  activecampaign: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'api-token',
        },
        base_url: 'https://{account}.api-us1.com',
        hosts: ['*.api-us1.com'],
      },
    ],
  },
  adobe: {
    oauth2: [
      {
        hosts: ['audio-video-api.adobe.io', 'firefly-api.adobe.io', 'image.adobe.io'],
        injections: ['{"name":"x-api-key","type":"header","value":"{oauth_client_id}"}'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://ims-na1.adobelogin.com/ims/token/v3',
        },
      },
    ],
    client_credentials: [
      {
        hosts: ['audio-video-api.adobe.io', 'firefly-api.adobe.io', 'image.adobe.io'],
        injections: ['{"name":"x-api-key","type":"header","value":"{oauth_client_id}"}'],
        oauth: {
          token_url: 'https://ims-na1.adobelogin.com/ims/token/v3',
        },
      },
    ],
  },
  adyen: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-api-key',
        },
        hosts: [
          '*.adyenpayments.com',
          'authe-live.adyen.com',
          'balanceplatform-api-live.adyen.com',
          'balanceplatform-api-test.adyen.com',
          'ca-live.adyen.com',
          'ca-test.adyen.com',
          'cal-live.adyen.com',
          'cal-test.adyen.com',
          'checkout-test.adyen.com',
          'device-api-live-apse.adyen.com',
          'device-api-live-au.adyen.com',
          'device-api-live-us.adyen.com',
          'device-api-live.adyen.com',
          'device-api-test.adyen.com',
          'kyc-live.adyen.com',
          'kyc-test.adyen.com',
          'management-live.adyen.com',
          'management-test.adyen.com',
          'obgateway-live.adyen.com',
          'obgateway-test.adyen.com',
          'pal-test.adyen.com',
          'postfmapi-live.adyen.com',
          'postfmapi-test.adyen.com',
          'terminal-api-live-apse.adyen.com',
          'terminal-api-live-au.adyen.com',
          'terminal-api-live-us.adyen.com',
          'terminal-api-live.adyen.com',
          'terminal-api-test.adyen.com',
          'test.adyen.com/authe/*',
        ],
      },
      {
        hosts: [
          '*.adyenpayments.com',
          'checkout-test.adyen.com',
          'management-live.adyen.com',
          'management-test.adyen.com',
        ],
      },
    ],
  },
  affinity: {
    api_key: [
      {
        hosts: ['api.affinity.co/v2/*'],
      },
    ],
  },
  agentmail: {
    api_key: [
      {
        hosts: ['api.agentmail.to'],
      },
    ],
  },
  aihubmix: {
    api_key: [
      {
        hosts: ['aihubmix.com/v1/*'],
      },
    ],
  },
  airtable: {
    api_key: [
      {
        hosts: ['api.airtable.com'],
      },
    ],
    oauth2: [
      {
        hosts: ['api.airtable.com'],
        oauth: {
          token_url: 'https://airtable.com/oauth2/v1/token',
        },
      },
    ],
  },
  alchemy: {
    api_key: [
      {
        api_key: {
          prefix: null,
        },
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
  },
  algolia: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-algolia-api-key',
        },
        base_url: 'https://{app_id}.algolia.net',
        hosts: ['*.algolia.net'],
        injections: ['{"name":"X-Algolia-Application-Id","type":"header","value":"{app_id}"}'],
      },
    ],
  },
  'alpha-vantage': {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'apikey',
        },
        hosts: ['www.alphavantage.co'],
      },
    ],
  },
  amazon: {
    oauth2: [
      {
        hosts: ['api.amazon.com'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://api.amazon.com/auth/o2/token',
        },
      },
    ],
  },
  apify: {
    api_key: [
      {
        hosts: ['api.apify.com'],
      },
    ],
  },
  arcade: {
    api_key: [
      {
        hosts: ['api.arcade.dev'],
      },
    ],
  },
  asana: {
    oauth2: [
      {
        hosts: ['app.asana.com/api/*'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://app.asana.com/-/oauth_token',
        },
      },
    ],
  },
  assemblyai: {
    api_key: [
      {
        api_key: {
          prefix: null,
        },
        hosts: [
          'api.assemblyai.com',
          'api.eu.assemblyai.com',
          'llm-gateway.assemblyai.com',
          'llm-gateway.eu.assemblyai.com',
          'streaming.assemblyai.com',
          'streaming.eu.assemblyai.com',
        ],
      },
      {
        hosts: ['api.assemblyai.com', 'streaming.assemblyai.com'],
      },
    ],
  },
  autodesk: {
    oauth2: [
      {
        hosts: ['developer.api.autodesk.com'],
        oauth: {
          token_url: 'https://developer.api.autodesk.com/authentication/v2/token',
        },
      },
    ],
  },
  aws: {
    signing: [
      {
        hosts: [
          '*.s3-accelerate.amazonaws.com',
          '*.s3-control.*.amazonaws.com',
          '*.s3.*.amazonaws.com',
          '*.s3.amazonaws.com',
          '*.s3.dualstack.*.amazonaws.com',
          'access-analyzer.*.amazonaws.com',
          'acm.*.amazonaws.com',
          'api.ecr.*.amazonaws.com',
          'api.sagemaker.*.amazonaws.com',
          'apigateway.*.amazonaws.com',
          'application-autoscaling.*.amazonaws.com',
          'athena.*.amazonaws.com',
          'autoscaling.*.amazonaws.com',
          'backup.*.amazonaws.com',
          'batch.*.amazonaws.com',
          'bedrock-agent-runtime.*.amazonaws.com',
          'bedrock-agent.*.amazonaws.com',
          'ce.us-east-1.amazonaws.com',
          'cloudformation.*.amazonaws.com',
          'cloudfront.amazonaws.com',
          'cloudtrail.*.amazonaws.com',
          'codebuild.*.amazonaws.com',
          'codedeploy.*.amazonaws.com',
          'codepipeline.*.amazonaws.com',
          'cognito-identity.*.amazonaws.com',
          'cognito-idp.*.amazonaws.com',
          'comprehend.*.amazonaws.com',
          'config.*.amazonaws.com',
          'dynamodb.*.amazonaws.com',
          'ec2.*.amazonaws.com',
          'ecs.*.amazonaws.com',
          'eks.*.amazonaws.com',
          'elasticache.*.amazonaws.com',
          'elasticfilesystem.*.amazonaws.com',
          'elasticloadbalancing.*.amazonaws.com',
          'elasticmapreduce.*.amazonaws.com',
          'email.*.amazonaws.com',
          'events.*.amazonaws.com',
          'firehose.*.amazonaws.com',
          'glue.*.amazonaws.com',
          'iam.amazonaws.com',
          'kinesis.*.amazonaws.com',
          'kms.*.amazonaws.com',
          'lambda.*.amazonaws.com',
          'logs.*.amazonaws.com',
          'monitoring.*.amazonaws.com',
          'organizations.us-east-1.amazonaws.com',
          'pipes.*.amazonaws.com',
          'polly.*.amazonaws.com',
          'rds-data.*.amazonaws.com',
          'rds.*.amazonaws.com',
          'redshift-data.*.amazonaws.com',
          'redshift.*.amazonaws.com',
          'rekognition.*.amazonaws.com',
          'resource-groups.*.amazonaws.com',
          'route53.amazonaws.com',
          'runtime.sagemaker.*.amazonaws.com',
          's3.*.amazonaws.com',
          's3.amazonaws.com',
          's3.dualstack.*.amazonaws.com',
          'scheduler.*.amazonaws.com',
          'secretsmanager.*.amazonaws.com',
          'servicediscovery.*.amazonaws.com',
          'sns.*.amazonaws.com',
          'sqs.*.amazonaws.com',
          'ssm.*.amazonaws.com',
          'states.*.amazonaws.com',
          'streams.dynamodb.*.amazonaws.com',
          'sts.*.amazonaws.com',
          'sts.amazonaws.com',
          'synthetics.*.amazonaws.com',
          'tagging.*.amazonaws.com',
          'textract.*.amazonaws.com',
          'transcribe.*.amazonaws.com',
          'translate.*.amazonaws.com',
          'wafv2.*.amazonaws.com',
          'xray.*.amazonaws.com',
        ],
        signing: {
          type: 'aws_sigv4',
        },
      },
    ],
  },
  'aws-bedrock': {
    api_key: [
      {
        hosts: ['bedrock-runtime.*.amazonaws.com', 'bedrock.*.amazonaws.com'],
      },
    ],
    signing: [
      {
        hosts: ['bedrock-runtime.*.amazonaws.com', 'bedrock.*.amazonaws.com'],
        signing: {
          type: 'aws_sigv4',
        },
      },
    ],
  },
  axiom: {
    api_key: [
      {
        hosts: ['api.axiom.co', 'api.eu.axiom.co', 'eu-central-1.aws.edge.axiom.co', 'us-east-1.aws.edge.axiom.co'],
      },
      {
        hosts: ['api.axiom.co', 'eu-central-1.aws.edge.axiom.co', 'us-east-1.aws.edge.axiom.co'],
      },
      {
        hosts: ['api.axiom.co'],
      },
    ],
  },
  'azure-ai-services': {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'ocp-apim-subscription-key',
        },
        base_url: 'https://{resource}.cognitiveservices.azure.com',
        hosts: ['*.cognitiveservices.azure.com'],
        injections: ['{"name":"api-key","type":"header"}'],
      },
    ],
  },
  'azure-devops': {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
        },
        hosts: ['dev.azure.com', 'feeds.dev.azure.com', 'pkgs.dev.azure.com', 'vssps.dev.azure.com'],
      },
    ],
  },
  'azure-openai': {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'api-key',
        },
        base_url: 'https://{resource}.openai.azure.com',
        hosts: ['*.openai.azure.com'],
      },
    ],
  },
  basecamp: {
    oauth2: [
      {
        hosts: ['3.basecampapi.com'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://launchpad.37signals.com/authorization/token',
        },
      },
    ],
  },
  baseten: {
    api_key: [
      {
        api_key: {
          prefix: 'Api-Key',
        },
        hosts: ['*.api.baseten.co', 'api.baseten.co', 'inference.baseten.co'],
      },
    ],
  },
  'better-stack': {
    api_key: [
      {
        hosts: ['uptime.betterstack.com'],
      },
    ],
  },
  bigcommerce: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-auth-token',
        },
        hosts: ['api.bigcommerce.com'],
      },
    ],
  },
  bitbucket: {
    api_key: [
      {
        hosts: ['api.bitbucket.org', 'bitbucket.org'],
        injections: ['{"hosts":["bitbucket.org"],"password":"{api_key}","type":"basic","username":"x-token-auth"}'],
      },
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{email}',
        },
        injections: [
          '{"hosts":["bitbucket.org"],"password":"{api_key}","type":"basic","username":"x-bitbucket-api-token-auth"}',
        ],
      },
      {
        api_key: {
          username: null,
          encoding: 'none',
          prefix: 'Bearer',
        },
        hosts: ['api.bitbucket.org'],
        injections: [],
      },
    ],
    oauth2: [
      {
        hosts: ['api.bitbucket.org'],
        oauth: {
          token_auth_method: 'client_secret_basic',
          token_url: 'https://bitbucket.org/site/oauth2/access_token',
        },
      },
    ],
  },
  'black-forest-labs': {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-key',
        },
        hosts: ['api.bfl.ai', 'api.eu.bfl.ai', 'api.us.bfl.ai'],
      },
    ],
  },
  'bland-ai': {
    api_key: [
      {
        api_key: {
          prefix: null,
        },
        hosts: ['api.bland.ai', 'us.api.bland.ai'],
      },
      {
        hosts: ['api.bland.ai'],
      },
    ],
  },
  box: {
    oauth2: [
      {
        hosts: ['api.box.com', 'upload.box.com'],
        oauth: {
          revocation_url: 'https://api.box.com/oauth2/revoke',
          token_auth_method: 'client_secret_post',
          token_url: 'https://api.box.com/oauth2/token',
        },
      },
    ],
  },
  braintrust: {
    api_key: [
      {
        hosts: ['api-eu.braintrust.dev', 'api.braintrust.dev'],
      },
      {
        hosts: ['api.braintrust.dev'],
      },
    ],
  },
  brevo: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'api-key',
        },
        hosts: ['api.brevo.com'],
      },
    ],
  },
  brightdata: {
    api_key: [
      {
        hosts: ['api.brightdata.com'],
      },
    ],
  },
  'browser-use': {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-browser-use-api-key',
        },
        hosts: ['api.browser-use.com'],
      },
    ],
  },
  browserbase: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-bb-api-key',
        },
        hosts: ['api.browserbase.com'],
      },
    ],
  },
  browserless: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'token',
        },
        hosts: [
          'chrome-eu-ams.browserless.io',
          'chrome-eu-uk.browserless.io',
          'chrome-us-east.browserless.io',
          'chrome-us-west.browserless.io',
          'chrome.browserless.io',
          'production-ams.browserless.io',
          'production-lon.browserless.io',
          'production-sfo.browserless.io',
        ],
      },
      {
        hosts: ['production-ams.browserless.io', 'production-lon.browserless.io', 'production-sfo.browserless.io'],
      },
    ],
  },
  browserstack: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{username}',
        },
        hosts: ['api-cloud.browserstack.com', 'api.browserstack.com', 'hub-cloud.browserstack.com'],
      },
    ],
  },
  buffer: {
    api_key: [
      {
        hosts: ['api.buffer.com'],
      },
    ],
  },
  bugsnag: {
    api_key: [
      {
        api_key: {
          prefix: 'token',
        },
        hosts: ['api.bugsnag.com'],
      },
    ],
  },
  buildkite: {
    api_key: [
      {
        hosts: ['api.buildkite.com'],
      },
    ],
  },
  builtwith: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'KEY',
        },
        hosts: ['api.builtwith.com'],
      },
    ],
  },
  bunny: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'accesskey',
        },
        hosts: ['api.bunny.net'],
      },
    ],
  },
  'cal-com': {
    api_key: [
      {
        hosts: ['api.cal.com'],
      },
    ],
  },
  canva: {
    oauth2: [
      {
        hosts: ['api.canva.com'],
        oauth: {
          token_auth_method: 'client_secret_basic',
          token_url: 'https://api.canva.com/rest/v1/oauth/token',
        },
      },
    ],
  },
  chargebee: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{api_key}',
        },
        base_url: 'https://{site}.chargebee.com',
        hosts: ['*.chargebee.com'],
      },
    ],
  },
  'checkout-com': {
    api_key: [
      {
        hosts: ['*.api.checkout.com', '*.api.sandbox.checkout.com', 'api.checkout.com', 'api.sandbox.checkout.com'],
      },
      {
        hosts: ['api.checkout.com', 'api.sandbox.checkout.com'],
      },
    ],
  },
  chroma: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-chroma-token',
        },
        hosts: ['api.trychroma.com', 'europe-west1.gcp.trychroma.com'],
      },
      {
        hosts: ['api.trychroma.com'],
      },
    ],
  },
  chutes: {
    api_key: [
      {
        hosts: ['llm.chutes.ai'],
      },
    ],
  },
  circleci: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'circle-token',
        },
        hosts: ['circleci.com/api/*'],
      },
      {
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
  },
  'clickhouse-cloud': {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{key_id}',
        },
        hosts: ['api.clickhouse.cloud'],
      },
    ],
  },
  cloudinary: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{cloud_key}',
        },
        hosts: ['api.cloudinary.com'],
      },
    ],
  },
  cloudsmith: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-api-key',
        },
        hosts: ['api.cloudsmith.io'],
      },
    ],
  },
  coingecko: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-cg-pro-api-key',
        },
        hosts: ['pro-api.coingecko.com'],
      },
    ],
  },
  coinmarketcap: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-cmc_pro_api_key',
        },
        hosts: ['pro-api.coinmarketcap.com'],
      },
    ],
  },
  confluent: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{key_id}',
        },
        hosts: ['api.confluent.cloud'],
      },
    ],
  },
  'constant-contact': {
    oauth2: [
      {
        hosts: ['api.cc.email'],
        oauth: {
          token_url: 'https://authz.constantcontact.com/oauth2/default/v1/token',
        },
      },
    ],
  },
  contentful: {
    api_key: [
      {
        hosts: ['api.contentful.com', 'api.eu.contentful.com', 'upload.contentful.com'],
      },
      {
        hosts: ['api.contentful.com', 'upload.contentful.com'],
      },
    ],
  },
  convex: {
    api_key: [
      {
        api_key: {
          prefix: 'Convex',
        },
        base_url: 'https://{deployment}.convex.cloud',
        hosts: ['*.convex.cloud'],
      },
    ],
  },
  cursor: {
    api_key: [
      {
        hosts: ['api.cursor.com/v0/*', 'api.cursor.com/v1/*'],
      },
    ],
  },
  'cursor-admin': {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{api_key}',
        },
        hosts: ['api.cursor.com/analytics/*', 'api.cursor.com/teams/*'],
      },
    ],
  },
  'd-id': {
    api_key: [
      {
        api_key: {
          prefix: 'Basic',
        },
        hosts: ['api.d-id.com'],
      },
    ],
  },
  dailymotion: {
    oauth2: [
      {
        hosts: ['api.dailymotion.com'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://api.dailymotion.com/oauth/token',
        },
      },
    ],
  },
  dashscope: {
    api_key: [
      {
        hosts: ['dashscope-intl.aliyuncs.com', 'dashscope.aliyuncs.com'],
      },
    ],
  },
  databricks: {
    api_key: [
      {
        base_url: 'https://{workspace}.cloud.databricks.com',
        hosts: ['*.cloud.databricks.com'],
      },
    ],
    oauth2: [
      {
        base_url: 'https://{workspace}.cloud.databricks.com',
        hosts: ['*.cloud.databricks.com'],
        oauth: {
          token_auth_method: 'client_secret_basic',
          token_url: '{base_url}/oidc/v1/token',
        },
      },
    ],
    client_credentials: [
      {
        base_url: 'https://{workspace}.cloud.databricks.com',
        hosts: ['*.cloud.databricks.com'],
        oauth: {
          token_url: '{base_url}/oidc/v1/token',
        },
      },
    ],
  },
  datadog: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'dd-api-key',
        },
        hosts: [
          'api.ap1.datadoghq.com',
          'api.ap2.datadoghq.com',
          'api.datadoghq.com',
          'api.datadoghq.eu',
          'api.ddog-gov.com',
          'api.uk1.datadoghq.com',
          'api.us2.ddog-gov.com',
          'api.us3.datadoghq.com',
          'api.us5.datadoghq.com',
        ],
        injections: ['{"name":"DD-APPLICATION-KEY","type":"header","value":"{app_key}"}'],
      },
      {
        hosts: [
          'api.ap1.datadoghq.com',
          'api.datadoghq.com',
          'api.datadoghq.eu',
          'api.us3.datadoghq.com',
          'api.us5.datadoghq.com',
        ],
      },
    ],
  },
  dataforseo: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{login}',
        },
        hosts: ['api.dataforseo.com'],
      },
    ],
  },
  daytona: {
    api_key: [
      {
        hosts: ['app.daytona.io/api/*'],
      },
    ],
  },
  deel: {
    api_key: [
      {
        hosts: ['api.letsdeel.com'],
      },
    ],
  },
  deepgram: {
    api_key: [
      {
        api_key: {
          prefix: 'Token',
        },
        hosts: ['api.au.deepgram.com', 'api.deepgram.com', 'api.eu.deepgram.com', 'api.in.deepgram.com'],
      },
      {
        hosts: ['api.deepgram.com'],
      },
    ],
  },
  deepl: {
    api_key: [
      {
        api_key: {
          prefix: 'DeepL-Auth-Key',
        },
        hosts: ['api-free.deepl.com', 'api.deepl.com'],
      },
    ],
  },
  deepseek: {
    api_key: [
      {
        hosts: ['api.deepseek.com'],
      },
    ],
  },
  'deno-deploy': {
    api_key: [
      {
        hosts: ['api.deno.com'],
      },
    ],
  },
  deviantart: {
    oauth2: [
      {
        hosts: ['www.deviantart.com/api/*'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://www.deviantart.com/oauth2/token',
        },
      },
    ],
  },
  devin: {
    api_key: [
      {
        hosts: ['api.devin.ai'],
      },
    ],
  },
  diffbot: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'token',
        },
        hosts: ['api.diffbot.com', 'kg.diffbot.com'],
      },
    ],
  },
  digitalocean: {
    api_key: [
      {
        hosts: ['api.digitalocean.com'],
      },
    ],
    oauth2: [
      {
        hosts: ['api.digitalocean.com'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://cloud.digitalocean.com/v1/oauth/token',
        },
      },
    ],
  },
  docusign: {
    oauth2: [
      {
        hosts: ['*.docusign.net'],
        oauth: {
          token_auth_method: 'client_secret_basic',
          token_url: 'https://account.docusign.com/oauth/token',
        },
      },
    ],
  },
  drata: {
    api_key: [
      {
        hosts: ['public-api.drata.com'],
      },
    ],
  },
  duffel: {
    api_key: [
      {
        headers: {
          'Duffel-Version': 'v2',
        },
        hosts: ['api.duffel.com'],
      },
    ],
  },
  ebay: {
    oauth2: [
      {
        hosts: ['api.ebay.com'],
        oauth: {
          token_auth_method: 'client_secret_basic',
          token_url: 'https://api.ebay.com/identity/v1/oauth2/token',
        },
      },
    ],
    client_credentials: [
      {
        hosts: ['api.ebay.com'],
        oauth: {
          token_url: 'https://api.ebay.com/identity/v1/oauth2/token',
        },
      },
    ],
  },
  'ebay-sandbox': {
    oauth2: [
      {
        hosts: ['api.sandbox.ebay.com'],
        oauth: {
          token_auth_method: 'client_secret_basic',
          token_url: 'https://api.sandbox.ebay.com/identity/v1/oauth2/token',
        },
      },
    ],
    client_credentials: [
      {
        hosts: ['api.sandbox.ebay.com'],
        oauth: {
          token_url: 'https://api.sandbox.ebay.com/identity/v1/oauth2/token',
        },
      },
    ],
  },
  elevenlabs: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'xi-api-key',
        },
        hosts: [
          'api.elevenlabs.io',
          'api.eu.residency.elevenlabs.io',
          'api.in.residency.elevenlabs.io',
          'api.us.elevenlabs.io',
        ],
      },
      {
        hosts: ['api.elevenlabs.io'],
      },
    ],
  },
  exa: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-api-key',
        },
        hosts: ['api.exa.ai'],
      },
    ],
  },
  explorium: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'api_key',
        },
        hosts: ['api.explorium.ai'],
      },
    ],
  },
  facebook: {
    api_key: [
      {
        hosts: ['graph.facebook.com'],
      },
      {
        hosts: ['graph-video.facebook.com', 'graph.facebook.com', 'rupload.facebook.com'],
        injections: [
          '{"hosts":["graph-video.facebook.com","graph.facebook.com"],"name":"Authorization","type":"header","value":"Bearer {api_key}"}',
          '{"hosts":["graph-video.facebook.com","graph.facebook.com"],"name":"access_token","type":"query"}',
          '{"hosts":["rupload.facebook.com"],"name":"Authorization","type":"header","value":"OAuth {api_key}"}',
        ],
      },
    ],
    oauth2: [
      {
        hosts: ['graph.facebook.com'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://graph.facebook.com/v22.0/oauth/access_token',
        },
      },
      {
        hosts: ['graph-video.facebook.com', 'graph.facebook.com', 'rupload.facebook.com'],
        injections: [
          '{"hosts":["graph-video.facebook.com","graph.facebook.com"],"name":"Authorization","type":"header","value":"Bearer {access_token}"}',
          '{"hosts":["graph-video.facebook.com","graph.facebook.com"],"name":"access_token","type":"query","value":"{access_token}"}',
          '{"hosts":["rupload.facebook.com"],"name":"Authorization","type":"header","value":"OAuth {access_token}"}',
        ],
      },
    ],
  },
  fal: {
    api_key: [
      {
        api_key: {
          prefix: 'Key',
        },
        hosts: ['api.fal.ai', 'fal.run', 'queue.fal.run', 'rest.fal.ai'],
      },
      {
        hosts: ['api.fal.ai', 'fal.run', 'queue.fal.run'],
      },
    ],
  },
  fastly: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'fastly-key',
        },
        hosts: ['api.fastly.com'],
      },
    ],
  },
  'financial-datasets': {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-api-key',
        },
        hosts: ['api.financialdatasets.ai'],
      },
    ],
  },
  'financial-modeling-prep': {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'apikey',
        },
        hosts: ['financialmodelingprep.com/api/*', 'financialmodelingprep.com/stable/*'],
      },
    ],
  },
  finnhub: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'token',
        },
        hosts: ['finnhub.io/api/*'],
      },
    ],
  },
  fireworks: {
    api_key: [
      {
        hosts: ['api.fireworks.ai'],
      },
    ],
  },
  fitbit: {
    oauth2: [
      {
        hosts: ['api.fitbit.com'],
        oauth: {
          token_auth_method: 'client_secret_basic',
          token_url: 'https://api.fitbit.com/oauth2/token',
        },
      },
    ],
  },
  'fly-io': {
    api_key: [
      {
        hosts: ['api.fly.io', 'api.machines.dev'],
      },
    ],
  },
  foursquare: {
    api_key: [
      {
        headers: {
          'X-Places-Api-Version': '2025-06-17',
        },
        hosts: ['places-api.foursquare.com'],
      },
    ],
  },
  fred: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'api_key',
        },
        hosts: ['api.stlouisfed.org'],
      },
    ],
  },
  freepik: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-freepik-api-key',
        },
        hosts: ['api.freepik.com'],
      },
    ],
  },
  freshbooks: {
    oauth2: [
      {
        hosts: ['api.freshbooks.com'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://api.freshbooks.com/auth/oauth/token',
        },
      },
    ],
  },
  geoapify: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'apiKey',
        },
        hosts: ['api.geoapify.com'],
      },
    ],
  },
  giphy: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'api_key',
        },
        hosts: ['api.giphy.com'],
      },
    ],
  },
  github: {
    oauth2: [
      {
        hosts: ['api.github.com', 'github.com', 'raw.githubusercontent.com', 'uploads.github.com'],
        injections: ['{"hosts":["github.com"],"password":"{access_token}","type":"basic","username":"x-access-token"}'],
        oauth: {
          device_authorization_url: 'https://github.com/login/device/code',
          token_url: 'https://github.com/login/oauth/access_token',
        },
      },
      {
        injections: null,
        hosts: ['api.github.com', 'raw.githubusercontent.com', 'uploads.github.com'],
      },
    ],
    api_key: [
      {
        hosts: ['api.github.com', 'raw.githubusercontent.com', 'uploads.github.com'],
      },
    ],
  },
  'github-models': {
    api_key: [
      {
        hosts: ['models.github.ai'],
      },
    ],
  },
  gitlab: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'private-token',
        },
        hosts: ['gitlab.com/api/*'],
      },
    ],
    oauth2: [
      {
        hosts: ['gitlab.com/api/*'],
        oauth: {
          device_authorization_url: 'https://gitlab.com/oauth/authorize_device',
          revocation_url: 'https://gitlab.com/oauth/revoke',
          token_url: 'https://gitlab.com/oauth/token',
        },
      },
    ],
  },
  gmail: {
    oauth2: [
      {
        hosts: ['gmail.googleapis.com', 'www.googleapis.com/gmail/*'],
        oauth: {
          issuer: 'https://accounts.google.com',
          revocation_url: 'https://oauth2.googleapis.com/revoke',
          token_auth_method: 'client_secret_post',
          token_url: 'https://oauth2.googleapis.com/token',
        },
      },
      {
        oauth: {
          device_authorization_url: 'https://oauth2.googleapis.com/device/code',
        },
      },
    ],
    signing: [
      {
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
    ],
  },
  godaddy: {
    api_key: [
      {
        api_key: {
          prefix: 'sso-key',
        },
        hosts: ['api.godaddy.com', 'api.ote-godaddy.com'],
      },
    ],
  },
  gong: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{access_key}',
        },
        hosts: ['api.gong.io'],
      },
    ],
  },
  google: {
    oauth2: [
      {
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
          'calendarmcp.googleapis.com',
          'chat.googleapis.com',
          'chatmcp.googleapis.com',
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
          'docsmcp.googleapis.com',
          'documentai.googleapis.com',
          'drive.googleapis.com',
          'driveactivity.googleapis.com',
          'drivemcp.googleapis.com',
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
          'gmailmcp.googleapis.com',
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
          'sheetsmcp.googleapis.com',
          'slides.googleapis.com',
          'slidesmcp.googleapis.com',
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
          issuer: 'https://accounts.google.com',
          revocation_url: 'https://oauth2.googleapis.com/revoke',
          token_auth_method: 'client_secret_post',
          token_url: 'https://oauth2.googleapis.com/token',
        },
      },
      {
        hosts: [
          'admin.googleapis.com',
          'aiplatform.eu.rep.googleapis.com',
          'aiplatform.googleapis.com',
          'aiplatform.us.rep.googleapis.com',
          'analyticsadmin.googleapis.com',
          'analyticsdata.googleapis.com',
          'androidpublisher.googleapis.com',
          'artifactregistry.googleapis.com',
          'asia-east1-aiplatform.googleapis.com',
          'asia-northeast1-aiplatform.googleapis.com',
          'asia-northeast3-aiplatform.googleapis.com',
          'asia-south1-aiplatform.googleapis.com',
          'asia-southeast1-aiplatform.googleapis.com',
          'australia-southeast1-aiplatform.googleapis.com',
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
          'europe-central2-aiplatform.googleapis.com',
          'europe-north1-aiplatform.googleapis.com',
          'europe-southwest1-aiplatform.googleapis.com',
          'europe-west1-aiplatform.googleapis.com',
          'europe-west2-aiplatform.googleapis.com',
          'europe-west3-aiplatform.googleapis.com',
          'europe-west4-aiplatform.googleapis.com',
          'europe-west6-aiplatform.googleapis.com',
          'europe-west8-aiplatform.googleapis.com',
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
          'me-west1-aiplatform.googleapis.com',
          'meet.googleapis.com',
          'monitoring.googleapis.com',
          'northamerica-northeast1-aiplatform.googleapis.com',
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
          'southamerica-east1-aiplatform.googleapis.com',
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
          'us-south1-aiplatform.googleapis.com',
          'us-west1-aiplatform.googleapis.com',
          'us-west4-aiplatform.googleapis.com',
          'videointelligence.googleapis.com',
          'vision.googleapis.com',
          'workspaceevents.googleapis.com',
          'www.googleapis.com',
          'youtube.googleapis.com',
        ],
      },
      {
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
      },
    ],
  },
  'google-admin': {
    oauth2: [
      {
        hosts: ['admin.googleapis.com', 'www.googleapis.com/admin/*'],
        oauth: {
          issuer: 'https://accounts.google.com',
          revocation_url: 'https://oauth2.googleapis.com/revoke',
          token_auth_method: 'client_secret_post',
          token_url: 'https://oauth2.googleapis.com/token',
        },
      },
    ],
    signing: [
      {
        header_name: 'authorization',
        hosts: ['admin.googleapis.com', 'www.googleapis.com/admin/*'],
        injections: [],
        prefix: 'Bearer',
        signing: {
          scopes: ['https://www.googleapis.com/auth/admin.directory.user.readonly'],
          token_url: 'https://oauth2.googleapis.com/token',
          type: 'google_service_account',
        },
      },
    ],
  },
  'google-bigquery': {
    oauth2: [
      {
        hosts: ['bigquery.googleapis.com', 'www.googleapis.com/bigquery/*'],
        oauth: {
          issuer: 'https://accounts.google.com',
          revocation_url: 'https://oauth2.googleapis.com/revoke',
          token_auth_method: 'client_secret_post',
          token_url: 'https://oauth2.googleapis.com/token',
        },
      },
    ],
    signing: [
      {
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
  },
  'google-calendar': {
    oauth2: [
      {
        hosts: ['calendar-json.googleapis.com', 'www.googleapis.com/batch/calendar/*', 'www.googleapis.com/calendar/*'],
        oauth: {
          issuer: 'https://accounts.google.com',
          revocation_url: 'https://oauth2.googleapis.com/revoke',
          token_auth_method: 'client_secret_post',
          token_url: 'https://oauth2.googleapis.com/token',
        },
      },
      {
        hosts: ['calendar-json.googleapis.com', 'www.googleapis.com/calendar/*'],
      },
      {
        oauth: {
          device_authorization_url: 'https://oauth2.googleapis.com/device/code',
        },
      },
    ],
    signing: [
      {
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
        hosts: ['calendar-json.googleapis.com', 'www.googleapis.com/calendar/*'],
      },
    ],
  },
  'google-chat': {
    oauth2: [
      {
        hosts: ['chat.googleapis.com'],
        oauth: {
          issuer: 'https://accounts.google.com',
          revocation_url: 'https://oauth2.googleapis.com/revoke',
          token_auth_method: 'client_secret_post',
          token_url: 'https://oauth2.googleapis.com/token',
        },
      },
    ],
    signing: [
      {
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
  },
  'google-cloud': {
    oauth2: [
      {
        hosts: [
          'aiplatform.googleapis.com',
          'artifactregistry.googleapis.com',
          'asia-northeast1-aiplatform.googleapis.com',
          'asia-southeast1-aiplatform.googleapis.com',
          'cloudbilling.googleapis.com',
          'cloudbuild.googleapis.com',
          'cloudfunctions.googleapis.com',
          'cloudkms.googleapis.com',
          'cloudresourcemanager.googleapis.com',
          'cloudscheduler.googleapis.com',
          'cloudtasks.googleapis.com',
          'compute.googleapis.com',
          'container.googleapis.com',
          'dataflow.googleapis.com',
          'discoveryengine.googleapis.com',
          'dns.googleapis.com',
          'documentai.googleapis.com',
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
          'iam.googleapis.com',
          'iamcredentials.googleapis.com',
          'identitytoolkit.googleapis.com',
          'language.googleapis.com',
          'logging.googleapis.com',
          'monitoring.googleapis.com',
          'pubsub.googleapis.com',
          'run.googleapis.com',
          'secretmanager.googleapis.com',
          'serviceusage.googleapis.com',
          'spanner.googleapis.com',
          'speech.googleapis.com',
          'sqladmin.googleapis.com',
          'storage.googleapis.com',
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
          'www.googleapis.com/compute/*',
          'www.googleapis.com/storage/*',
        ],
        oauth: {
          issuer: 'https://accounts.google.com',
          revocation_url: 'https://oauth2.googleapis.com/revoke',
          token_auth_method: 'client_secret_post',
          token_url: 'https://oauth2.googleapis.com/token',
        },
      },
      {
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
      },
      {
        hosts: [
          'cloudresourcemanager.googleapis.com',
          'compute.googleapis.com',
          'run.googleapis.com',
          'storage.googleapis.com',
          'www.googleapis.com/compute/*',
          'www.googleapis.com/storage/*',
        ],
      },
    ],
    signing: [
      {
        header_name: 'authorization',
        hosts: [
          'aiplatform.googleapis.com',
          'artifactregistry.googleapis.com',
          'asia-northeast1-aiplatform.googleapis.com',
          'asia-southeast1-aiplatform.googleapis.com',
          'cloudbilling.googleapis.com',
          'cloudbuild.googleapis.com',
          'cloudfunctions.googleapis.com',
          'cloudkms.googleapis.com',
          'cloudresourcemanager.googleapis.com',
          'cloudscheduler.googleapis.com',
          'cloudtasks.googleapis.com',
          'compute.googleapis.com',
          'container.googleapis.com',
          'dataflow.googleapis.com',
          'discoveryengine.googleapis.com',
          'dns.googleapis.com',
          'documentai.googleapis.com',
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
          'iam.googleapis.com',
          'iamcredentials.googleapis.com',
          'identitytoolkit.googleapis.com',
          'language.googleapis.com',
          'logging.googleapis.com',
          'monitoring.googleapis.com',
          'pubsub.googleapis.com',
          'run.googleapis.com',
          'secretmanager.googleapis.com',
          'serviceusage.googleapis.com',
          'spanner.googleapis.com',
          'speech.googleapis.com',
          'sqladmin.googleapis.com',
          'storage.googleapis.com',
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
      },
    ],
  },
  'google-docs': {
    oauth2: [
      {
        hosts: ['docs.googleapis.com'],
        oauth: {
          issuer: 'https://accounts.google.com',
          revocation_url: 'https://oauth2.googleapis.com/revoke',
          token_auth_method: 'client_secret_post',
          token_url: 'https://oauth2.googleapis.com/token',
        },
      },
    ],
    signing: [
      {
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
  },
  'google-drive': {
    oauth2: [
      {
        hosts: [
          'drive.googleapis.com',
          'www.googleapis.com/batch/drive/*',
          'www.googleapis.com/drive/*',
          'www.googleapis.com/upload/drive/*',
        ],
        oauth: {
          issuer: 'https://accounts.google.com',
          revocation_url: 'https://oauth2.googleapis.com/revoke',
          token_auth_method: 'client_secret_post',
          token_url: 'https://oauth2.googleapis.com/token',
        },
      },
      {
        hosts: ['drive.googleapis.com', 'www.googleapis.com/drive/*', 'www.googleapis.com/upload/drive/*'],
      },
      {
        oauth: {
          device_authorization_url: 'https://oauth2.googleapis.com/device/code',
        },
      },
    ],
    signing: [
      {
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
        hosts: ['drive.googleapis.com', 'www.googleapis.com/drive/*', 'www.googleapis.com/upload/drive/*'],
      },
    ],
  },
  'google-forms': {
    signing: [
      {
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
  },
  'google-gemini': {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-goog-api-key',
        },
        hosts: ['generativelanguage.googleapis.com'],
      },
    ],
  },
  'google-maps': {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'key',
        },
        hosts: ['maps.googleapis.com', 'places.googleapis.com', 'routes.googleapis.com'],
      },
    ],
  },
  'google-sheets': {
    oauth2: [
      {
        hosts: ['sheets.googleapis.com'],
        oauth: {
          issuer: 'https://accounts.google.com',
          revocation_url: 'https://oauth2.googleapis.com/revoke',
          token_auth_method: 'client_secret_post',
          token_url: 'https://oauth2.googleapis.com/token',
        },
      },
    ],
    signing: [
      {
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
  },
  'google-slides': {
    oauth2: [
      {
        hosts: ['slides.googleapis.com'],
        oauth: {
          issuer: 'https://accounts.google.com',
          revocation_url: 'https://oauth2.googleapis.com/revoke',
          token_auth_method: 'client_secret_post',
          token_url: 'https://oauth2.googleapis.com/token',
        },
      },
    ],
    signing: [
      {
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
  },
  greenhouse: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{api_key}',
        },
        hosts: ['harvest.greenhouse.io'],
      },
    ],
  },
  gumroad: {
    api_key: [
      {
        hosts: ['api.gumroad.com'],
      },
    ],
    oauth2: [
      {
        hosts: ['api.gumroad.com'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://api.gumroad.com/oauth/token',
        },
      },
    ],
  },
  harness: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-api-key',
        },
        hosts: ['app.harness.io'],
      },
    ],
  },
  hashnode: {
    api_key: [
      {
        api_key: {
          prefix: null,
        },
        hosts: ['gql.hashnode.com'],
      },
    ],
  },
  helicone: {
    api_key: [
      {
        hosts: ['ai-gateway.helicone.ai', 'api.helicone.ai'],
      },
    ],
  },
  helius: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'api-key',
        },
        hosts: [
          'api-mainnet.helius-rpc.com',
          'api.helius.xyz',
          'beta.helius-rpc.com',
          'devnet.helius-rpc.com',
          'mainnet.helius-rpc.com',
        ],
      },
      {
        hosts: ['api.helius.xyz', 'devnet.helius-rpc.com', 'mainnet.helius-rpc.com'],
      },
    ],
  },
  heroku: {
    api_key: [
      {
        headers: {
          Accept: 'application/vnd.heroku+json; version=3',
        },
        hosts: ['api.heroku.com'],
      },
    ],
    oauth2: [
      {
        headers: {
          Accept: 'application/vnd.heroku+json; version=3',
        },
        hosts: ['api.heroku.com'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://id.heroku.com/oauth/token',
        },
      },
    ],
  },
  hetzner: {
    api_key: [
      {
        hosts: ['api.hetzner.cloud'],
      },
    ],
  },
  honeycomb: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-honeycomb-team',
        },
        hosts: ['api.honeycomb.io'],
      },
    ],
  },
  huggingface: {
    api_key: [
      {
        hosts: ['api-inference.huggingface.co', 'huggingface.co', 'router.huggingface.co'],
      },
    ],
    oauth2: [
      {
        hosts: ['api-inference.huggingface.co', 'huggingface.co', 'router.huggingface.co'],
        oauth: {
          device_authorization_url: 'https://huggingface.co/oauth/device',
          issuer: 'https://huggingface.co',
          token_url: 'https://huggingface.co/oauth/token',
        },
      },
    ],
  },
  hume: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-hume-api-key',
        },
        hosts: ['api.hume.ai'],
      },
    ],
  },
  hunter: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'api_key',
        },
        hosts: ['api.hunter.io'],
      },
    ],
  },
  hyperbrowser: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-api-key',
        },
        hosts: ['api.hyperbrowser.ai', 'app.hyperbrowser.ai/api/*'],
      },
    ],
  },
  'incident-io': {
    api_key: [
      {
        hosts: ['api.incident.io'],
      },
    ],
  },
  'inference-net': {
    api_key: [
      {
        hosts: ['api.inference.net', 'inference.net/v1/*'],
      },
      {
        hosts: ['api.inference.net'],
      },
    ],
  },
  infura: {
    api_key: [
      {
        api_key: {
          prefix: null,
        },
        hosts: ['*.infura.io/v3/*'],
        injections: ['{"hosts":["*.infura.io/v3/*"],"prefix":"/v3/","type":"path"}'],
      },
    ],
  },
  instantly: {
    api_key: [
      {
        hosts: ['api.instantly.ai'],
      },
    ],
  },
  ipinfo: {
    api_key: [
      {
        hosts: ['api.ipinfo.io', 'ipinfo.io'],
      },
    ],
  },
  jina: {
    api_key: [
      {
        hosts: ['api.jina.ai', 'r.jina.ai', 's.jina.ai'],
      },
    ],
  },
  jotform: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'apikey',
        },
        hosts: ['api.jotform.com', 'eu-api.jotform.com'],
      },
    ],
  },
  jumpcloud: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-api-key',
        },
        hosts: ['console.jumpcloud.com/api/*'],
      },
    ],
  },
  kagi: {
    api_key: [
      {
        api_key: {
          prefix: 'Bot',
        },
        hosts: ['kagi.com/api/v0/*'],
      },
    ],
  },
  kick: {
    oauth2: [
      {
        hosts: ['api.kick.com'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://id.kick.com/oauth/token',
        },
      },
    ],
  },
  klaviyo: {
    api_key: [
      {
        api_key: {
          prefix: 'Klaviyo-API-Key',
        },
        headers: {
          revision: '2024-07-15',
        },
        hosts: ['a.klaviyo.com'],
      },
    ],
  },
  langfuse: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{public_key}',
        },
        hosts: ['cloud.langfuse.com', 'us.cloud.langfuse.com'],
      },
    ],
  },
  langsmith: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-api-key',
        },
        hosts: ['api.smith.langchain.com', 'eu.api.smith.langchain.com'],
      },
    ],
  },
  launchdarkly: {
    api_key: [
      {
        api_key: {
          prefix: null,
        },
        hosts: ['app.launchdarkly.com/api/*'],
      },
    ],
  },
  lemlist: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
        },
        hosts: ['api.lemlist.com'],
      },
    ],
  },
  lever: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{api_key}',
        },
        hosts: ['api.lever.co'],
      },
    ],
  },
  lichess: {
    oauth2: [
      {
        hosts: ['lichess.org/api/*'],
        oauth: {
          token_auth_method: 'none',
          token_url: 'https://lichess.org/api/token',
        },
      },
    ],
  },
  linear: {
    api_key: [
      {
        api_key: {
          prefix: null,
        },
        hosts: ['api.linear.app'],
      },
    ],
    oauth2: [
      {
        hosts: ['api.linear.app'],
        oauth: {
          revocation_url: 'https://api.linear.app/oauth/revoke',
          token_auth_method: 'client_secret_post',
          token_url: 'https://api.linear.app/oauth/token',
        },
      },
      {
        oauth: {
          revocation_url: null,
        },
      },
    ],
  },
  linkup: {
    api_key: [
      {
        hosts: ['api.linkup.so'],
      },
    ],
  },
  llamacloud: {
    api_key: [
      {
        hosts: ['api.cloud.llamaindex.ai'],
      },
    ],
  },
  mailgun: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: 'api',
        },
        hosts: ['api.eu.mailgun.net', 'api.mailgun.net'],
      },
    ],
  },
  mailjet: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{consumer_id}',
        },
        hosts: ['api.mailjet.com'],
      },
    ],
  },
  mailsac: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'mailsac-key',
        },
        hosts: ['mailsac.com/api/*'],
      },
    ],
  },
  make: {
    api_key: [
      {
        api_key: {
          prefix: 'Token',
        },
        hosts: ['eu1.make.com/api/*', 'eu2.make.com/api/*', 'us1.make.com/api/*', 'us2.make.com/api/*'],
      },
    ],
  },
  mapbox: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'access_token',
        },
        hosts: ['api.mapbox.com'],
      },
    ],
  },
  mathpix: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'app_key',
        },
        hosts: ['api.mathpix.com'],
        injections: ['{"name":"app_id","type":"header","value":"{app_id}"}'],
      },
    ],
  },
  'mcp-intercom': {
    oauth2: [
      {
        hosts: ['mcp.intercom.com'],
        oauth: {
          resource: 'https://mcp.intercom.com/mcp',
        },
      },
    ],
  },
  'mcp-posthog': {
    oauth2: [
      {
        hosts: ['mcp.posthog.com'],
        oauth: {
          resource: 'https://mcp.posthog.com/mcp',
        },
      },
    ],
  },
  'mcp-zapier': {
    oauth2: [
      {
        hosts: ['mcp.zapier.com'],
        oauth: {
          resource: 'https://mcp.zapier.com/api/mcp/mcp',
        },
      },
    ],
  },
  mem0: {
    api_key: [
      {
        api_key: {
          prefix: 'Token',
        },
        hosts: ['api.mem0.ai'],
      },
    ],
  },
  mercadopago: {
    api_key: [
      {
        hosts: ['api.mercadopago.com'],
      },
    ],
    oauth2: [
      {
        hosts: ['api.mercadopago.com'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://api.mercadopago.com/oauth/token',
        },
      },
    ],
  },
  mercury: {
    api_key: [
      {
        hosts: ['api.mercury.com'],
      },
    ],
  },
  messagebird: {
    api_key: [
      {
        api_key: {
          prefix: 'AccessKey',
        },
        hosts: ['api.bird.com', 'rest.messagebird.com'],
      },
    ],
  },
  minimax: {
    api_key: [
      {
        hosts: ['api.minimax.io', 'api.minimaxi.com'],
      },
    ],
  },
  mixpanel: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{username}',
        },
        hosts: [
          'api-eu.mixpanel.com',
          'api.mixpanel.com',
          'data-eu.mixpanel.com',
          'data.mixpanel.com',
          'eu.mixpanel.com/api/*',
          'mixpanel.com/api/*',
        ],
      },
    ],
  },
  morph: {
    api_key: [
      {
        hosts: ['api.morphllm.com'],
      },
    ],
  },
  mux: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{token_id}',
        },
        hosts: ['api.mux.com'],
      },
    ],
  },
  'nano-gpt': {
    api_key: [
      {
        hosts: ['nano-gpt.com/api/*'],
      },
    ],
  },
  ncbi: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'api_key',
        },
        hosts: ['eutils.ncbi.nlm.nih.gov'],
      },
    ],
  },
  nebius: {
    api_key: [
      {
        hosts: ['api.studio.nebius.ai', 'api.studio.nebius.com', 'api.tokenfactory.nebius.com'],
      },
    ],
  },
  'new-relic': {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'api-key',
        },
        hosts: [
          'api.eu.newrelic.com',
          'api.jp.newrelic.com',
          'api.newrelic.com',
          'infra-api.eu.newrelic.com',
          'infra-api.newrelic.com',
          'mcp.newrelic.com',
          'synthetics.eu.newrelic.com',
          'synthetics.newrelic.com',
        ],
      },
      {
        hosts: ['api.eu.newrelic.com', 'api.newrelic.com'],
      },
    ],
  },
  nomic: {
    api_key: [
      {
        hosts: ['*.nomic.ai/api/v0/*', 'api-atlas.nomic.ai'],
      },
    ],
  },
  notion: {
    oauth2: [
      {
        headers: {
          'Notion-Version': '2022-06-28',
        },
        hosts: ['api.notion.com'],
        oauth: {
          token_auth_method: 'client_secret_basic',
          token_url: 'https://api.notion.com/v1/oauth/token',
        },
      },
    ],
  },
  novita: {
    api_key: [
      {
        hosts: ['api.novita.ai'],
      },
    ],
  },
  nvidia: {
    api_key: [
      {
        hosts: ['ai.api.nvidia.com', 'api.nvcf.nvidia.com', 'health.api.nvidia.com', 'integrate.api.nvidia.com'],
      },
      {
        hosts: ['ai.api.nvidia.com', 'integrate.api.nvidia.com'],
      },
    ],
  },
  okta: {
    api_key: [
      {
        api_key: {
          prefix: 'SSWS',
        },
        base_url: 'https://{domain}.okta.com',
        hosts: ['*.okta.com'],
      },
    ],
    oauth2: [
      {
        base_url: 'https://{domain}.okta.com',
        hosts: ['*.okta.com'],
        oauth: {
          revocation_url: '{base_url}/oauth2/v1/revoke',
          token_url: '{base_url}/oauth2/v1/token',
        },
      },
    ],
    client_credentials: [
      {
        base_url: 'https://{domain}.okta.com',
        hosts: ['*.okta.com'],
        oauth: {
          revocation_url: '{base_url}/oauth2/v1/revoke',
          token_url: '{base_url}/oauth2/v1/token',
        },
      },
    ],
  },
  omdb: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'apikey',
        },
        hosts: ['www.omdbapi.com'],
      },
    ],
  },
  openai: {
    api_key: [
      {
        hosts: [
          'ae.api.openai.com',
          'api.openai.com',
          'au.api.openai.com',
          'ca.api.openai.com',
          'eu.api.openai.com',
          'gb.api.openai.com',
          'in.api.openai.com',
          'jp.api.openai.com',
          'kr.api.openai.com',
          'sg.api.openai.com',
          'us.api.openai.com',
        ],
      },
    ],
  },
  'opencode-zen': {
    api_key: [
      {
        hosts: ['opencode.ai/zen/*'],
      },
    ],
  },
  openrouter: {
    api_key: [
      {
        hosts: ['openrouter.ai/api/*'],
      },
    ],
  },
  openstreetmap: {
    oauth2: [
      {
        hosts: ['api.openstreetmap.org', 'www.openstreetmap.org/api/*'],
        oauth: {
          token_url: 'https://www.openstreetmap.org/oauth2/token',
        },
      },
    ],
  },
  openweather: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'appid',
        },
        hosts: ['api.openweathermap.org'],
      },
    ],
  },
  osu: {
    oauth2: [
      {
        hosts: ['osu.ppy.sh/api/*'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://osu.ppy.sh/oauth/token',
        },
      },
    ],
  },
  outscraper: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-api-key',
        },
        hosts: ['api.app.outscraper.com'],
      },
    ],
  },
  'ovh-ai-endpoints': {
    api_key: [
      {
        hosts: ['oai.endpoints.kepler.ai.cloud.ovh.net'],
      },
    ],
  },
  oxylabs: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{username}',
        },
        hosts: ['realtime.oxylabs.io'],
      },
    ],
  },
  paddle: {
    api_key: [
      {
        hosts: ['api.paddle.com', 'sandbox-api.paddle.com'],
      },
    ],
  },
  pagerduty: {
    api_key: [
      {
        api_key: {
          prefix: 'Token token=',
        },
        hosts: ['api.eu.pagerduty.com', 'api.pagerduty.com'],
      },
      {
        hosts: ['api.pagerduty.com'],
      },
    ],
    oauth2: [
      {
        hosts: ['api.eu.pagerduty.com', 'api.pagerduty.com'],
        oauth: {
          token_url: 'https://app.pagerduty.com/oauth/token',
        },
      },
      {
        hosts: ['api.pagerduty.com'],
      },
    ],
  },
  parallel: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-api-key',
        },
        hosts: ['api.parallel.ai'],
      },
    ],
  },
  'paypal-sandbox': {
    oauth2: [
      {
        hosts: ['api-m.sandbox.paypal.com'],
        oauth: {
          token_auth_method: 'client_secret_basic',
          token_url: 'https://api-m.sandbox.paypal.com/v1/oauth2/token',
        },
      },
    ],
    client_credentials: [
      {
        hosts: ['api-m.sandbox.paypal.com'],
        oauth: {
          token_url: 'https://api-m.sandbox.paypal.com/v1/oauth2/token',
        },
      },
    ],
  },
  'people-data-labs': {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-api-key',
        },
        hosts: ['api.peopledatalabs.com'],
      },
    ],
  },
  pinecone: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'api-key',
        },
        hosts: ['*.svc.*.pinecone.io', 'api.pinecone.io'],
      },
      {
        hosts: ['api.pinecone.io'],
      },
    ],
  },
  pinterest: {
    oauth2: [
      {
        hosts: ['api.pinterest.com'],
        oauth: {
          token_auth_method: 'client_secret_basic',
          token_url: 'https://api.pinterest.com/v5/oauth/token',
        },
      },
    ],
  },
  pipedrive: {
    oauth2: [
      {
        hosts: ['*.pipedrive.com', 'api.pipedrive.com'],
        oauth: {
          token_auth_method: 'client_secret_basic',
          token_url: 'https://oauth.pipedrive.com/oauth/token',
        },
      },
    ],
  },
  plane: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-api-key',
        },
        hosts: ['api.plane.so'],
      },
    ],
  },
  planetscale: {
    api_key: [
      {
        api_key: {
          prefix: null,
        },
        hosts: ['api.planetscale.com'],
      },
    ],
  },
  plivo: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{auth_id}',
        },
        hosts: ['api.plivo.com'],
      },
    ],
  },
  poe: {
    api_key: [
      {
        hosts: ['api.poe.com'],
      },
    ],
  },
  polar: {
    api_key: [
      {
        hosts: ['api.polar.sh'],
      },
    ],
    oauth2: [
      {
        hosts: ['api.polar.sh'],
        oauth: {
          token_url: 'https://api.polar.sh/v1/oauth2/token',
        },
      },
    ],
  },
  portkey: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-portkey-api-key',
        },
        hosts: ['api.portkey.ai'],
      },
    ],
  },
  posthog: {
    api_key: [
      {
        hosts: ['app.posthog.com', 'eu.posthog.com', 'us.posthog.com'],
      },
    ],
  },
  postman: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-api-key',
        },
        hosts: ['api.getpostman.com'],
      },
    ],
  },
  productboard: {
    api_key: [
      {
        headers: {
          'X-Version': '1',
        },
        hosts: ['api.productboard.com'],
      },
    ],
  },
  pulumi: {
    api_key: [
      {
        api_key: {
          prefix: 'token',
        },
        hosts: ['api.pulumi.com'],
      },
    ],
  },
  quickbase: {
    api_key: [
      {
        api_key: {
          prefix: 'QB-USER-TOKEN',
        },
        hosts: ['api.quickbase.com'],
        injections: ['{"name":"QB-Realm-Hostname","type":"header","value":"{realm}"}'],
      },
    ],
  },
  quickbooks: {
    oauth2: [
      {
        hosts: ['quickbooks.api.intuit.com', 'sandbox-quickbooks.api.intuit.com'],
        oauth: {
          token_auth_method: 'client_secret_basic',
          token_url: 'https://oauth.platform.intuit.com/oauth2/v1/tokens/bearer',
        },
      },
    ],
  },
  razorpay: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{key_id}',
        },
        hosts: ['api.razorpay.com'],
      },
    ],
  },
  readme: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{api_key}',
        },
        hosts: ['dash.readme.com/api/*'],
      },
    ],
  },
  readwise: {
    api_key: [
      {
        api_key: {
          prefix: 'Token',
        },
        hosts: ['readwise.io/api/*'],
      },
    ],
  },
  reducto: {
    api_key: [
      {
        hosts: ['platform.reducto.ai'],
      },
    ],
  },
  reka: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-api-key',
        },
        hosts: ['api.reka.ai'],
      },
    ],
  },
  requesty: {
    api_key: [
      {
        hosts: ['router.requesty.ai'],
      },
    ],
  },
  'rev-ai': {
    api_key: [
      {
        hosts: ['api.rev.ai'],
      },
    ],
  },
  revenuecat: {
    api_key: [
      {
        hosts: ['api.revenuecat.com'],
      },
    ],
  },
  roblox: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-api-key',
        },
        hosts: ['apis.roblox.com'],
      },
    ],
    oauth2: [
      {
        hosts: ['apis.roblox.com'],
        oauth: {
          token_url: 'https://apis.roblox.com/oauth/v1/token',
        },
      },
    ],
  },
  rootly: {
    api_key: [
      {
        hosts: ['api.rootly.com'],
      },
    ],
  },
  sage: {
    oauth2: [
      {
        hosts: ['api.accounting.sage.com'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://oauth.accounting.sage.com/token',
        },
      },
    ],
  },
  salesforce: {
    oauth2: [
      {
        hosts: ['*.my.salesforce.com'],
        oauth: {
          device_authorization_url: 'https://login.salesforce.com/services/oauth2/token',
          revocation_url: 'https://login.salesforce.com/services/oauth2/revoke',
          token_url: 'https://login.salesforce.com/services/oauth2/token',
        },
      },
    ],
  },
  'salesforce-sandbox': {
    oauth2: [
      {
        hosts: ['*.sandbox.my.salesforce.com'],
        oauth: {
          device_authorization_url: 'https://test.salesforce.com/services/oauth2/token',
          revocation_url: 'https://test.salesforce.com/services/oauth2/revoke',
          token_url: 'https://test.salesforce.com/services/oauth2/token',
        },
      },
    ],
  },
  sambanova: {
    api_key: [
      {
        hosts: ['api.sambanova.ai'],
      },
    ],
  },
  sanity: {
    api_key: [
      {
        base_url: 'https://{project}.api.sanity.io',
        hosts: ['*.api.sanity.io', 'api.sanity.io'],
      },
    ],
  },
  saucelabs: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{username}',
        },
        hosts: ['api.eu-central-1.saucelabs.com', 'api.us-east-4.saucelabs.com', 'api.us-west-1.saucelabs.com'],
      },
    ],
  },
  'scrape-do': {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'token',
        },
        hosts: ['api.scrape.do'],
      },
    ],
  },
  scrapegraphai: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'sgai-apikey',
        },
        hosts: ['api.scrapegraphai.com', 'v2-api.scrapegraphai.com'],
      },
      {
        hosts: ['api.scrapegraphai.com'],
      },
    ],
  },
  scraperapi: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'api_key',
        },
        hosts: ['api.scraperapi.com'],
      },
    ],
  },
  scrapfly: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'key',
        },
        hosts: [
          'api.scrapfly.io',
          'browser.scrapfly.io',
          'browser.scrapfly.io/session/*',
          'browser.scrapfly.io/unblock/*',
        ],
        injections: ['{"hosts":["browser.scrapfly.io"],"name":"api_key","type":"query"}'],
      },
      {
        hosts: ['api.scrapfly.io'],
        injections: [],
      },
    ],
  },
  scrapingbee: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'api_key',
        },
        hosts: ['app.scrapingbee.com/api/*'],
      },
    ],
  },
  segmind: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-api-key',
        },
        hosts: ['api.segmind.com'],
      },
    ],
  },
  semrush: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'key',
        },
        hosts: ['api.semrush.com', 'api.semrush.com/apis/v4/*'],
        injections: [
          '{"hosts":["api.semrush.com/apis/v4/*"],"name":"Authorization","type":"header","value":"Apikey {api_key}"}',
        ],
      },
      {
        hosts: ['api.semrush.com'],
        injections: [],
      },
    ],
  },
  sendgrid: {
    api_key: [
      {
        hosts: ['api.sendgrid.com'],
      },
    ],
  },
  serpapi: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'api_key',
        },
        hosts: ['serpapi.com'],
      },
    ],
  },
  shodan: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'key',
        },
        hosts: ['api.shodan.io'],
      },
    ],
  },
  similarweb: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'api-key',
        },
        hosts: ['api.similarweb.com', 'api.similarweb.com/v1/*', 'api.similarweb.com/v2/*', 'api.similarweb.com/v4/*'],
        injections: [
          '{"hosts":["api.similarweb.com/v1/*","api.similarweb.com/v2/*","api.similarweb.com/v4/*"],"name":"api_key","type":"query"}',
        ],
      },
      {
        api_key: {
          header_name: 'authorization',
          query_param: 'api_key',
        },
        hosts: ['api.similarweb.com'],
        injections: [],
      },
    ],
  },
  slack: {
    api_key: [
      {
        hosts: ['files.slack.com', 'slack.com/api/*'],
      },
    ],
    oauth2: [
      {
        hosts: ['files.slack.com', 'slack.com/api/*'],
        oauth: {
          token_auth_method: 'client_secret_basic',
          token_url: 'https://slack.com/api/oauth.v2.access',
        },
      },
    ],
  },
  'slack-app': {
    api_key: [
      {
        hosts: ['slack.com/api/apps.connections.open/*', 'slack.com/api/apps.event.authorizations.list/*'],
      },
    ],
  },
  smartlead: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'api_key',
        },
        hosts: ['server.smartlead.ai'],
      },
    ],
  },
  smartsheet: {
    api_key: [
      {
        hosts: ['api.smartsheet.au', 'api.smartsheet.com', 'api.smartsheet.eu', 'api.smartsheetgov.com'],
      },
      {
        hosts: ['api.smartsheet.com'],
      },
    ],
  },
  snapchat: {
    oauth2: [
      {
        hosts: ['adsapi.snapchat.com'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://accounts.snapchat.com/login/oauth2/access_token',
        },
      },
    ],
  },
  snowflake: {
    api_key: [
      {
        base_url: 'https://{account}.snowflakecomputing.com',
        headers: {
          'X-Snowflake-Authorization-Token-Type': 'PROGRAMMATIC_ACCESS_TOKEN',
        },
        hosts: ['*.snowflakecomputing.com'],
      },
    ],
  },
  snyk: {
    api_key: [
      {
        api_key: {
          prefix: 'token',
        },
        hosts: ['api.snyk.io'],
      },
    ],
  },
  sonarcloud: {
    api_key: [
      {
        hosts: ['api.sonarcloud.io', 'api.sonarqube.us', 'sonarcloud.io/api/*', 'sonarqube.us/api/*'],
      },
      {
        hosts: ['api.sonarcloud.io', 'sonarcloud.io/api/*'],
      },
    ],
  },
  spider: {
    api_key: [
      {
        hosts: ['api.spider.cloud', 'browser.spider.cloud'],
        injections: ['{"hosts":["browser.spider.cloud"],"name":"token","type":"query"}'],
      },
      {
        hosts: ['api.spider.cloud'],
        injections: [],
      },
    ],
  },
  square: {
    api_key: [
      {
        hosts: ['connect.squareup.com'],
      },
    ],
    oauth2: [
      {
        hosts: ['connect.squareup.com'],
        oauth: {
          token_url: 'https://connect.squareup.com/oauth2/token',
        },
      },
    ],
  },
  statsig: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'statsig-api-key',
        },
        hosts: ['statsigapi.net'],
      },
    ],
  },
  steel: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'steel-api-key',
        },
        hosts: ['api.steel.dev'],
      },
    ],
  },
  storyblok: {
    api_key: [
      {
        api_key: {
          prefix: null,
        },
        hosts: ['mapi.storyblok.com'],
      },
    ],
  },
  stytch: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{project_id}',
        },
        hosts: ['api.stytch.com', 'test.stytch.com'],
      },
    ],
  },
  'supabase-project': {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'apikey',
        },
        base_url: 'https://{project_ref}.supabase.co',
        hosts: ['*.supabase.co'],
        injections: ['{"name":"Authorization","type":"header","value":"Bearer {api_key}"}'],
      },
    ],
  },
  supermemory: {
    api_key: [
      {
        hosts: ['api.supermemory.ai'],
      },
    ],
  },
  surveymonkey: {
    api_key: [
      {
        hosts: ['api.eu.surveymonkey.com', 'api.surveymonkey.com'],
      },
    ],
    oauth2: [
      {
        hosts: ['api.eu.surveymonkey.com', 'api.surveymonkey.com'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://api.surveymonkey.com/oauth/token',
        },
      },
    ],
  },
  synthetic: {
    api_key: [
      {
        hosts: ['api.synthetic.new'],
      },
    ],
  },
  tavily: {
    api_key: [
      {
        hosts: ['api.tavily.com'],
      },
    ],
  },
  telnyx: {
    api_key: [
      {
        hosts: ['api.telnyx.com'],
      },
    ],
  },
  'terraform-cloud': {
    api_key: [
      {
        hosts: ['app.terraform.io'],
      },
    ],
  },
  testrail: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{email}',
        },
        base_url: 'https://{instance}.testrail.io',
        hosts: ['*.testrail.io'],
      },
    ],
  },
  tinybird: {
    api_key: [
      {
        hosts: [
          'api.ap-east-1.aws.tinybird.co',
          'api.ap-southeast-2.aws.tinybird.co',
          'api.eu-central-1.aws.tinybird.co',
          'api.eu-west-1.aws.tinybird.co',
          'api.europe-west2.gcp.tinybird.co',
          'api.northamerica-northeast2.gcp.tinybird.co',
          'api.tinybird.co',
          'api.us-east.aws.tinybird.co',
          'api.us-east.tinybird.co',
          'api.us-west-2.aws.tinybird.co',
        ],
      },
      {
        hosts: [
          'api.eu-central-1.aws.tinybird.co',
          'api.eu-west-1.aws.tinybird.co',
          'api.tinybird.co',
          'api.us-east.aws.tinybird.co',
          'api.us-east.tinybird.co',
          'api.us-west-2.aws.tinybird.co',
        ],
      },
      {
        hosts: ['api.tinybird.co', 'api.us-east.tinybird.co'],
      },
    ],
  },
  tomtom: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'key',
        },
        hosts: ['api.tomtom.com'],
      },
    ],
  },
  trakt: {
    oauth2: [
      {
        headers: {
          'trakt-api-version': '2',
        },
        hosts: ['api.trakt.tv'],
        injections: ['{"name":"trakt-api-key","type":"header","value":"{oauth_client_id}"}'],
        oauth: {
          revocation_url: 'https://api.trakt.tv/oauth/revoke',
          token_auth_method: 'client_secret_post',
          token_url: 'https://api.trakt.tv/oauth/token',
        },
      },
    ],
  },
  'twelve-data': {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'apikey',
        },
        hosts: ['api.twelvedata.com'],
      },
    ],
  },
  twilio: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{sid}',
        },
        hosts: ['*.twilio.com', 'api.twilio.com'],
      },
    ],
  },
  twitch: {
    oauth2: [
      {
        hosts: ['api.twitch.tv'],
        injections: ['{"name":"Client-Id","type":"header","value":"{oauth_client_id}"}'],
        oauth: {
          device_authorization_url: 'https://id.twitch.tv/oauth2/device',
          revocation_url: 'https://id.twitch.tv/oauth2/revoke',
          token_url: 'https://id.twitch.tv/oauth2/token',
        },
      },
      {
        injections: null,
      },
    ],
    client_credentials: [
      {
        hosts: ['api.twitch.tv'],
        injections: ['{"name":"Client-Id","type":"header","value":"{oauth_client_id}"}'],
        oauth: {
          revocation_url: 'https://id.twitch.tv/oauth2/revoke',
          token_url: 'https://id.twitch.tv/oauth2/token',
        },
      },
    ],
  },
  typeform: {
    api_key: [
      {
        hosts: ['api.eu.typeform.com', 'api.typeform.com'],
      },
    ],
    oauth2: [
      {
        hosts: ['api.eu.typeform.com', 'api.typeform.com'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://api.typeform.com/oauth/token',
        },
      },
    ],
  },
  urlscan: {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'api-key',
        },
        hosts: ['urlscan.io/api/*'],
      },
    ],
  },
  v0: {
    api_key: [
      {
        hosts: ['api.v0.dev'],
      },
    ],
  },
  vapi: {
    api_key: [
      {
        hosts: ['api.eu.vapi.ai', 'api.vapi.ai'],
      },
      {
        hosts: ['api.vapi.ai'],
      },
    ],
  },
  vercel: {
    api_key: [
      {
        hosts: ['api.vercel.com'],
      },
    ],
  },
  'vercel-ai-gateway': {
    api_key: [
      {
        hosts: ['ai-gateway.vercel.sh'],
      },
    ],
  },
  'volcengine-ark': {
    api_key: [
      {
        hosts: ['ark.ap-southeast.bytepluses.com', 'ark.cn-beijing.volces.com'],
      },
    ],
  },
  vonage: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: '{consumer_id}',
        },
        hosts: ['api.nexmo.com'],
      },
    ],
  },
  wandb: {
    api_key: [
      {
        api_key: {
          prefix: null,
          encoding: 'basic',
          username: 'api',
        },
        hosts: ['api.inference.wandb.ai', 'api.wandb.ai', 'mcp.withwandb.com'],
        injections: [
          '{"hosts":["api.inference.wandb.ai"],"name":"Authorization","type":"header","value":"Bearer {api_key}"}',
          '{"hosts":["mcp.withwandb.com"],"name":"Authorization","type":"header","value":"Bearer {api_key}"}',
        ],
      },
      {
        hosts: ['api.inference.wandb.ai', 'api.wandb.ai'],
        injections: [
          '{"hosts":["api.inference.wandb.ai"],"name":"Authorization","type":"header","value":"Bearer {api_key}"}',
        ],
      },
      {
        hosts: ['api.wandb.ai'],
        injections: [],
      },
    ],
  },
  webflow: {
    api_key: [
      {
        hosts: ['api.webflow.com'],
      },
    ],
    oauth2: [
      {
        hosts: ['api.webflow.com'],
        oauth: {
          token_auth_method: 'client_secret_post',
          token_url: 'https://api.webflow.com/oauth/access_token',
        },
      },
    ],
  },
  wise: {
    api_key: [
      {
        hosts: ['api.transferwise.com', 'api.wise.com'],
      },
    ],
  },
  wistia: {
    api_key: [
      {
        hosts: ['api.wistia.com'],
      },
    ],
  },
  xai: {
    api_key: [
      {
        hosts: ['api.x.ai'],
      },
    ],
  },
  yahoo: {
    oauth2: [
      {
        hosts: ['fantasysports.yahooapis.com'],
        oauth: {
          token_auth_method: 'client_secret_basic',
          token_url: 'https://api.login.yahoo.com/oauth2/get_token',
        },
      },
    ],
  },
  yandex: {
    oauth2: [
      {
        hosts: ['cloud-api.yandex.net', 'login.yandex.ru'],
        oauth: {
          prefix: 'OAuth',
          token_auth_method: 'client_secret_post',
          token_url: 'https://oauth.yandex.com/token',
        },
      },
    ],
  },
  'you-com': {
    api_key: [
      {
        api_key: {
          prefix: null,
          header_name: 'x-api-key',
        },
        hosts: ['api.ydc-index.io', 'ydc-index.io'],
      },
    ],
  },
  zenrows: {
    api_key: [
      {
        api_key: {
          prefix: null,
          query_param: 'apikey',
        },
        hosts: ['api.zenrows.com'],
      },
    ],
  },
  zoho: {
    oauth2: [
      {
        hosts: ['www.zohoapis.com'],
        oauth: {
          prefix: 'Zoho-oauthtoken',
          token_auth_method: 'client_secret_post',
          token_url: 'https://accounts.zoho.com/oauth/v2/token',
        },
      },
    ],
  },
  zoom: {
    oauth2: [
      {
        hosts: [
          'api-au.zoom.us',
          'api-ca.zoom.us',
          'api-eu.zoom.us',
          'api-in.zoom.us',
          'api-sa.zoom.us',
          'api-sg.zoom.us',
          'api-uk.zoom.us',
          'api-us.zoom.us',
          'api.zoom.us',
        ],
        oauth: {
          device_authorization_url: 'https://zoom.us/oauth/devicecode',
          revocation_url: 'https://zoom.us/oauth/revoke',
          token_auth_method: 'client_secret_basic',
          token_url: 'https://zoom.us/oauth/token',
        },
      },
      {
        hosts: ['api.zoom.us'],
      },
    ],
    client_credentials: [
      {
        hosts: [
          'api-au.zoom.us',
          'api-ca.zoom.us',
          'api-eu.zoom.us',
          'api-in.zoom.us',
          'api-sa.zoom.us',
          'api-sg.zoom.us',
          'api-uk.zoom.us',
          'api-us.zoom.us',
          'api.zoom.us',
        ],
        oauth: {
          revocation_url: 'https://zoom.us/oauth/revoke',
          token_url: 'https://zoom.us/oauth/token',
        },
      },
      {
        hosts: ['api.zoom.us'],
      },
    ],
  },
}
