import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const requestInit = { headers: { authorization: `Bearer ${process.env.ACME_TOKEN}` } }
const client = new Client({ name: 'agent', version: '1.0.0' })
await client.connect(new StreamableHTTPClientTransport(new URL('https://mcp.acme.example/mcp'), { requestInit }))
console.log('status', 200)
const onprogress = ({ message }) => console.log(message)
const { content } = await client.callTool({ name: 'speak', arguments: {} }, undefined, { onprogress })
console.log(content[0].text)
await client.close()
