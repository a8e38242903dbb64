import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ maxRetries: 0 })
const messages = [{ role: 'user', content: 'Speak' }]
const question = { model: 'claude-sonnet-4-5', max_tokens: 10, messages }
const { response } = await client.messages.create(question).withResponse()
console.log('status', response.status)
const stream = await client.messages.create({ ...question, stream: true })
for await (const { delta } of stream) if (delta?.text) console.log(delta.text)
