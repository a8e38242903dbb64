const { OAuth2Client } = await import(process.argv[2])
const client = new OAuth2Client()
client.setCredentials({ access_token: process.env.GEMINI_API_KEY })
const base = 'https://generativelanguage.googleapis.com/v1beta/models'
const { status } = await client.request({ url: base })
console.log('status', status)
const url = `${base}/gemini-2.5-pro:streamGenerateContent?alt=sse`
const { data } = await client.request({ url, method: 'POST', data: {}, responseType: 'stream' })
for await (const chunk of data) process.stdout.write(chunk)
