import type { Secret } from '../../protocol/index.ts'

const DEFAULT_PORT = 6379

/** Returns where Redis is, and as whom. The database is chosen by a command of its own, whose failure is to be seen. */
export function addressOf(url: Secret) {
  const { protocol, hostname, port, username, password, pathname } = new URL(url.reveal())
  const host = hostname.replace(/^\[|\]$/g, '')
  return {
    options: {
      host,
      port: Number(port || DEFAULT_PORT),
      ...(username !== '' && { username: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
      ...(protocol === 'rediss:' && { tls: { servername: host } }),
    },
    database: Number(pathname.slice(1) || 0),
  }
}
