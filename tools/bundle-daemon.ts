/**
 * Before `npm test`: makes one file of the daemon and its libraries. The suites start it hundreds of times, and half of a
 * start is to find and read seven hundred files.
 */
import { dirname, join } from 'node:path'
import { build } from 'vite'
import { root } from './source-files.ts'
import { BUNDLED_DAEMON } from './suites.ts'

await build({
  root,
  configFile: false,
  logLevel: 'error',
  // As Node would find them.
  ssr: { noExternal: true, resolve: { mainFields: ['main'], conditions: ['node', 'module-sync'] } },
  build: {
    ssr: true,
    outDir: dirname(BUNDLED_DAEMON),
    emptyOutDir: true,
    copyPublicDir: false,
    target: 'node24',
    minify: false,
    rolldownOptions: {
      input: { main: join(root, 'src/daemon/main.ts'), 'log-thread': join(root, 'src/daemon/audit/log-thread.ts') },
      external: ['@napi-rs/keyring', 'pg-native', 'cloudflare:sockets'],
      // A thread is started by the name that its source has.
      output: {
        entryFileNames: ({ name }) => (name === 'main' ? '[name].js' : '[name].ts'),
        chunkFileNames: '[name].js',
      },
    },
  },
})
