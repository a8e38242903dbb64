/** Is what `broker run` starts in a story: asks ten services as their own clients do, with what stands in its environment. */
const env = (name: string): string => {
  const value = process.env[name]
  if (value === undefined || value.includes('CNRY'))
    throw new Error(`${name} is not set, or to more than a placeholder`)
  return value
}

const REQUESTS: readonly (readonly [url: string, headers: Readonly<Record<string, string>>])[] = [
  ['https://api.openai.com/v1/models', { authorization: `Bearer ${env('OPENAI_API_KEY')}` }],
  ['https://api.anthropic.com/v1/messages', { 'x-api-key': env('ANTHROPIC_API_KEY') }],
  ['https://api.github.com/user', { authorization: `token ${env('GITHUB_TOKEN')}` }],
  ['https://api.notion.com/v1/users/me', { authorization: `Bearer ${env('NOTION_TOKEN')}` }],
  [
    'https://api.datadoghq.com/api/v1/query',
    { 'DD-API-KEY': env('DD_API_KEY'), 'DD-APPLICATION-KEY': env('DD_APP_KEY') },
  ],
  [`https://api.telegram.org/bot${env('TELEGRAM_BOT_TOKEN')}/getMe`, {}],
  ['https://generativelanguage.googleapis.com/v1beta/models', { 'x-goog-api-key': env('GEMINI_API_KEY') }],
  [
    'https://api.godaddy.com/v1/domains',
    { authorization: `sso-key ${env('GODADDY_API_KEY')}:${env('GODADDY_API_SECRET')}` },
  ],
  [
    `https://api.twilio.com/2010-04-01/Accounts/${env('TWILIO_ACCOUNT_SID')}/Messages.json`,
    { authorization: `Basic ${btoa(`${env('TWILIO_ACCOUNT_SID')}:${env('TWILIO_AUTH_TOKEN')}`)}` },
  ],
  [`https://eth-mainnet.g.alchemy.com/v2/${env('ALCHEMY_API_KEY')}`, {}],
]

for (const [url, headers] of REQUESTS) {
  const { status } = await fetch(url, { headers })
  process.stdout.write(`${new URL(url).host} ${status}\n`)
}
