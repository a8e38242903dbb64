/** A timestamp for people: local time, to the second. */
export function day(timestamp: string): string {
  const date = new Date(timestamp)
  const two = (number: number) => String(number).padStart(2, '0')
  const days = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${days} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}
