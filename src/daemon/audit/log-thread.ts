/** The thread of a {@link LogWriter}: a second connection to the store, on which rows are chained and stored. */
import { parentPort, workerData } from 'node:worker_threads'
import { openBeside } from '../store/index.ts'
import { appendRows } from './append-rows.ts'
import type { Given, Told } from './log-writer.ts'

const store = openBeside(String(workerData))
const tell = (what: Told) => parentPort?.postMessage(what)

parentPort?.on('message', async (rows: Given) => {
  if (rows === 'end') {
    await store.close()
    parentPort?.close()
    return
  }
  try {
    await store.addition((tx) => appendRows(tx, 'sqlite', rows))
    tell('stored')
  } catch {
    tell('not stored')
  }
})
tell('ready')
