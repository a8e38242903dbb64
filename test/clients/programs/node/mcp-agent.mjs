// An agent with one MCP entry, as its settings name it.
import { readFileSync } from 'node:fs'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const { mcpServers } = JSON.parse(readFileSync('mcp.json', 'utf8'))
const { command, args } = mcpServers.acme
const client = new Client({ name: 'agent', version: '1.0.0' })
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: 'inherit' }))
const onprogress = ({ message }) => console.log(message)
const { content } = await client.callTool({ name: 'speak', arguments: {} }, undefined, { onprogress })
console.log(content[0].text)
await client.close()
