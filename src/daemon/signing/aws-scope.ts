/** What a signature is good for, beside its day. */
export interface AwsScope {
  readonly region: string
  readonly service: string
}

const REGION = /^[a-z]{2}(?:-[a-z]{2,12}){1,2}-[0-9]{1,2}$/
const DOMAINS = ['.amazonaws.com', '.api.aws'] as const
/** Where the services without regions are. */
const GLOBAL_REGION = 'us-east-1'

/** Services that sign by another name than their host has. */
const SIGNED_AS: Readonly<Record<string, string>> = {
  email: 'ses',
  queue: 'sqs',
  'bedrock-agent': 'bedrock',
  'bedrock-agent-runtime': 'bedrock',
  'bedrock-runtime': 'bedrock',
  's3-accelerate': 's3',
  's3-control': 's3',
}

/**
 * Region and service as the name of the host says them: the label left of the region is the service
 * (`api.ecr.us-east-1.amazonaws.com`). Undefined where the name does not say.
 * @param host in lower case
 */
export function scopeOfHost(host: string): AwsScope | undefined {
  const domain = DOMAINS.find((one) => host.endsWith(one))
  if (domain === undefined) return undefined
  const labels = host
    .slice(0, -domain.length)
    .split('.')
    .filter((label) => label !== 'dualstack')
  const last = labels.at(-1) ?? ''
  const [region, name] = REGION.test(last) ? [last, labels.at(-2)] : [GLOBAL_REGION, last]
  if (!name) return undefined
  const service = name.replace(/-fips$/, '')
  return { region, service: SIGNED_AS[service] ?? service }
}
