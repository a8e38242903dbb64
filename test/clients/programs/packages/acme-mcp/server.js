#!/usr/bin/env node
// An MCP server over stdio with one tool, which asks an API and passes on what it streams.
const { createInterface } = require('node:readline')

const TOOL = { name: 'speak', description: 'Speaks', inputSchema: { type: 'object', properties: {} } }
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'acme', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': speak,
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  try {
    send({ id, result: await answers[method](params) })
  } catch (error) {
    send({ id, error: { code: -32000, message: `${error.message} ${error.cause ?? ''}` } })
  }
})

async function speak({ _meta }) {
  const headers = { authorization: `Bearer ${process.env.OPENAI_API_KEY}` }
  const { status } = await fetch('https://api.openai.com/v1/models', { headers })
  const { body } = await fetch('https://api.openai.com/v1/events', { headers })
  let text = `status ${status} `
  let progress = 0
  for await (const chunk of body) {
    const message = Buffer.from(chunk).toString()
    text += message
    send({
      method: 'notifications/progress',
      params: { progressToken: _meta.progressToken, progress: progress++, message },
    })
  }
  return { content: [{ type: 'text', text }] }
}
