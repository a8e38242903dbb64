import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nearestWord } from './nearest-word.ts'

const WORDS = ['connections', 'login', 'logout', 'log', 'openai', 'openrouter', 'github', 'gitlab', 'x']

describe('the word that was meant', () => {
  for (const [word, meant] of [
    ['conections', 'connections'],
    ['logn', 'login'],
    ['lgo', 'log'],
    ['openia', 'openai'],
    ['opnai', 'openai'],
    ['githb', 'github'],
    ['opneruoter', 'openrouter'],
  ] as const)
    it(`${word} is ${meant}`, () => assert.equal(nearestWord(word, WORDS), meant))

  for (const word of ['', 'y', 'ab', 'zzzzzz', 'kubernetes', 'openai'])
    it(`${word || 'nothing'} is like none of them, or one of them`, () =>
      assert.equal(nearestWord(word, WORDS), undefined))
})
