import type { ErrorBody } from '../../protocol/index.ts'
import { notFoundPage, PAGE_POLICY, resultPage } from '../pages/index.ts'
import type { RawReply } from './route.ts'

/** An answer for people. */
export function page(status: number, html: string): RawReply {
  return {
    status,
    raw: html,
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PAGE_POLICY },
  }
}

/** The same error that a program would get as JSON. */
export function errorPage(status: number, { error, message, hint }: ErrorBody): RawReply {
  if (error === 'NotFoundError') return page(status, notFoundPage())
  return page(status, resultPage({ title: 'That did not work', message, hint, tone: 'failure' }))
}
