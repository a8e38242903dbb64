import { get } from 'node:https'

const headers = { authorization: `Bearer ${process.env.OPENAI_API_KEY}` }
get('https://api.openai.com/v1/models', { headers }, (plain) => {
  console.log('status', plain.statusCode)
  plain.resume()
  get('https://api.openai.com/v1/events', { headers }, (streamed) => streamed.pipe(process.stdout))
})
