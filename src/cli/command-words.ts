/** What `--from` takes beside paths. Its reader is not loaded to parse the words of a command. */
export const FROM_WORDS =
  'gh glab aws npm docker netrc gcloud cargo pypirc stripe doctl fly hf vercel netlify wrangler kube claude cursor mcp compose'.split(
    ' ',
  )

/** A command of completions alone, which is in no list. */
export const COMPLETE_WORDS = 'complete-words'
