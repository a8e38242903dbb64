import { WebSocket } from 'ws'

const headers = { authorization: `Bearer ${process.env.OPENAI_API_KEY}` }
const socket = new WebSocket('wss://api.openai.com/v1/realtime', { headers })
socket.on('upgrade', ({ statusCode }) => console.log('status', statusCode))
socket.on('message', (data) => console.log(String(data)))
