/**
 * The dashboard: what the daemon answers, as pages for people. It talks to the daemon alone, keeps nothing but the CSRF
 * token of its session, and must never hold a credential longer than it shows one.
 */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { DaemonError, takeCsrfToken } from './daemon.ts'
import { NoticesProvider } from './parts/notices.tsx'
import './styles.css'

setNonce(document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '')

const queries = new QueryClient({
  defaultOptions: {
    // The daemon is within reach where the internet is not.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 5_000,
      // What the daemon refuses it will refuse again; what never reached it may be tried.
      retry: (count, error) => !(error instanceof DaemonError) && count < 3,
    },
  },
})

/** Also where the daemon does not answer: the page says so. */
void takeCsrfToken().finally(show)

function show(): void {
  const root = document.getElementById('root')
  if (!root) return
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <NoticesProvider>
          <App />
        </NoticesProvider>
      </QueryClientProvider>
    </StrictMode>,
  )
}
