/**
 * Whether a path prefix of a definition covers this path of a request, which is without its query: `/mcp/` covers `/mcp` and
 * all below `/mcp/`, never `/mcpx`. A path that a server may resolve to another place is covered by no prefix.
 */
export function coversPath(prefix: string, path: string): boolean {
  return isAtOrBelow(prefix, path) && !mayLeavePrefix(path)
}

/** The text alone; for paths of which {@link mayLeavePrefix} is asked once. */
export function isAtOrBelow(prefix: string, path: string): boolean {
  return path.startsWith(prefix) || (path.length === prefix.length - 1 && prefix.startsWith(path))
}

// A "." or ".." between separators, each of them as it is or percent-encoded, also more than once; ";" begins a path
// parameter. An encoded slash alone leads nowhere else: npm asks for `/@scope%2fname`.
const DOT_SEGMENT = /(?:^|[/\\]|%(?:25)*(?:2f|5c))(?:\.|%(?:25)*2e){1,2}(?:$|[/\\;]|%(?:25)*(?:2f|5c|3b))/i

/** Whether a server may resolve this path, in any spelling of `/api/../admin`, to one that its text does not begin with. */
export function mayLeavePrefix(path: string): boolean {
  return (path.includes('.') || path.includes('%')) && DOT_SEGMENT.test(path)
}
