const socket = new WebSocket('wss://api.openai.com/v1/realtime', ['realtime'])
socket.onopen = () => console.log('status', 101)
socket.onmessage = ({ data }) => console.log(data)
socket.onerror = ({ message }) => {
  console.error(message)
  process.exitCode = 1
}
