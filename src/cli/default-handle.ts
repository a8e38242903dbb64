import { hostname, userInfo } from 'node:os'

/** `user-host`, in the characters a handle may have. */
export function defaultHandle(): string {
  const name = `${userName()}-${hostname().split('.', 1)[0]}`.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return name.replace(/^-+/, '').slice(0, 64).replace(/-+$/, '') || 'agent'
}

// A container's user may have no entry to take a name from.
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'user'
  }
}
