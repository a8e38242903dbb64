import { Agent, get } from 'node:https'

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const options = { agent, headers: { authorization: `Bearer ${process.env.OPENAI_API_KEY}` } }
get('https://api.openai.com/v1/models', options, (plain) => {
  console.log('status', plain.statusCode)
  plain.resume()
  get('https://api.openai.com/v1/events', options, (streamed) => {
    streamed.pipe(process.stdout)
    streamed.on('end', () => agent.destroy())
  })
})
