import { connect } from 'node:http2'

const session = connect('https://api.openai.com')
session.on('error', ({ message }) => {
  console.error(message)
  process.exitCode = 1
})
const ask = (path) => session.request({ ':path': path, authorization: `Bearer ${process.env.OPENAI_API_KEY}` })
const plain = ask('/v1/models')
plain.on('response', ({ ':status': status }) => console.log('status', status))
plain.resume().on('end', () => {
  const streamed = ask('/v1/events')
  streamed.pipe(process.stdout)
  streamed.on('end', () => session.close())
})
