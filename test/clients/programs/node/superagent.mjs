import superagent from 'superagent'

const headers = { authorization: `Bearer ${process.env.OPENAI_API_KEY}` }
const { status } = await superagent.get('https://api.openai.com/v1/models').set(headers)
console.log('status', status)
superagent.get('https://api.openai.com/v1/events').set(headers).pipe(process.stdout)
