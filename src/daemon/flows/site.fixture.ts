import type { TestContext } from 'node:test'
import type { ScriptedAnswer } from '../../../test/scripted-oauth-server.ts'
import { scripted } from './flows.fixture.ts'

/** What a server says at which path; `ORIGIN` stands for its own. */
export type Site = Readonly<Record<string, ScriptedAnswer>>

export async function site(t: TestContext, answers: Site) {
  return scripted(t, ({ path }, origin) => said(answers, path, { ORIGIN: origin }))
}

/** The answer with what its words stand for. */
export function said(answers: Site, path: string, words: Readonly<Record<string, string>>): ScriptedAnswer {
  const text = JSON.stringify(answers[path] ?? { status: 404 })
  const meant = Object.entries(words).reduce((before, [word, meaning]) => before.replaceAll(word, meaning), text)
  return JSON.parse(meant) as ScriptedAnswer
}

/** Where an issuer without a path has its metadata, and a resource without one. */
export const AT_ISSUER = '/.well-known/oauth-authorization-server'
export const AT_RESOURCE = '/.well-known/oauth-protected-resource'

export const ENDPOINTS = {
  authorization_endpoint: 'ORIGIN/authorize',
  token_endpoint: 'ORIGIN/token',
  code_challenge_methods_supported: ['S256'],
}

export function serverDocument(issuer: string, more: object = {}): ScriptedAnswer {
  return { body: { issuer, ...ENDPOINTS, ...more } }
}

export function resourceDocument(resource = 'ORIGIN/mcp', more: object = {}): ScriptedAnswer {
  return { body: { resource, authorization_servers: ['ORIGIN/as'], ...more } }
}

/** A 401 with these parameters. */
export function challenge(parameters: string): ScriptedAnswer {
  return { status: 401, headers: { 'www-authenticate': `Bearer ${parameters}` } }
}
