import { GoogleGenAI } from '@google/genai'

const { models } = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY })
const question = { model: 'gemini-2.5-pro', contents: 'Speak' }
await models.generateContent(question)
console.log('status', 200)
for await (const { text } of await models.generateContentStream(question)) console.log(text)
