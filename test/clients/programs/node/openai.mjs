const { default: OpenAI } = await import(process.argv[2])
const client = new OpenAI({ maxRetries: 0 })
const { response } = await client.models.list().withResponse()
console.log('status', response.status)
const messages = [{ role: 'user', content: 'Speak' }]
const stream = await client.chat.completions.create({ model: 'gpt-5', messages, stream: true })
for await (const { choices } of stream) console.log(choices[0].delta.content)
