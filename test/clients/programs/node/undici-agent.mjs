const { Agent, fetch } = await import(process.argv[2])
const dispatcher = new Agent({ connections: 1 })
const headers = { authorization: `Bearer ${process.env.OPENAI_API_KEY}` }
const plain = await fetch('https://api.openai.com/v1/models', { headers, dispatcher })
console.log('status', plain.status)
await plain.text()
const { body } = await fetch('https://api.openai.com/v1/events', { headers, dispatcher })
for await (const chunk of body) process.stdout.write(chunk)
await dispatcher.close()
