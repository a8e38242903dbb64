import axios from 'axios'

const headers = { authorization: `Bearer ${process.env.OPENAI_API_KEY}` }
const { status } = await axios.get('https://api.openai.com/v1/models', { headers })
console.log('status', status)
const { data } = await axios.get('https://api.openai.com/v1/events', { headers, responseType: 'stream' })
data.pipe(process.stdout)
