const { request } = await import(process.argv[2])
const headers = { authorization: `Bearer ${process.env.OPENAI_API_KEY}` }
const { statusCode, body } = await request('https://api.openai.com/v1/models', { headers })
console.log('status', statusCode)
await body.dump()
const streamed = await request('https://api.openai.com/v1/events', { headers })
for await (const chunk of streamed.body) process.stdout.write(chunk)
