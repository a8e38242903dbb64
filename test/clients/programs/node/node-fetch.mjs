import fetch from 'node-fetch'

const headers = { authorization: `Bearer ${process.env.OPENAI_API_KEY}` }
const { status } = await fetch('https://api.openai.com/v1/models', { headers })
console.log('status', status)
const { body } = await fetch('https://api.openai.com/v1/events', { headers })
body.pipe(process.stdout)
