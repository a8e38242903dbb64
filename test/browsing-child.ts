/** What `broker run --browser` starts in tests: opens the page named, in a browser that it finds by itself, and prints its text. */
import { chromium } from 'playwright-core'

const [url = '', ...args] = process.argv.slice(2)
const browser = await chromium.launch({ executablePath: process.env['PUPPETEER_EXECUTABLE_PATH'] ?? '', args })
const page = await browser.newPage()
await page.goto(url)
process.stdout.write(`${await page.textContent('body')}\n`)
await browser.close()
