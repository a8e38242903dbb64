const { default: got } = await import(process.argv[2])
const headers = { authorization: `Bearer ${process.env.OPENAI_API_KEY}` }
const { statusCode } = await got('https://api.openai.com/v1/models', { headers, retry: { limit: 0 } })
console.log('status', statusCode)
got.stream('https://api.openai.com/v1/events', { headers, retry: { limit: 0 } }).pipe(process.stdout)
