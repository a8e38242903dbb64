/**
 * The command as messages and the audit log may repeat it. `run -- OPENAI_API_KEY=… node` is a habit of shells: what stands
 * behind the name is likely a secret.
 */
export function commandName(file: string): string {
  return file.replace(/^(\w+=).+$/s, '$1…').slice(0, 200)
}
