import { connect } from 'node:net'

/** Sends these very bytes and reads until the other side closes, or its first answer is whole. */
export function rawRequest(port: number, bytes: string | Uint8Array, host = '127.0.0.1'): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host)
    let answer = ''
    const finish = () => {
      socket.destroy()
      resolve(answer)
    }
    socket.setEncoding('latin1')
    socket.on('error', (error) => (answer === '' ? reject(error) : finish()))
    socket.on('end', finish)
    socket.on('close', finish)
    socket.on('data', (chunk) => {
      answer += chunk
      const length = /content-length: (\d+)/i.exec(answer)?.[1]
      const body = answer.indexOf('\r\n\r\n') + 4
      if (length !== undefined && body > 3 && answer.length >= body + Number(length)) finish()
    })
    socket.write(bytes)
  })
}

/** The status of an answer, 0 where there was none. */
export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)
}
