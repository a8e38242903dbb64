import type { ResolvedCredential } from '../injection/index.ts'
import { BrokerError } from '../protocol/index.ts'
import type { ResolveRequest } from '../schemas/index.ts'
import type { Questions } from './exchange/index.ts'

type Answered = (outcome: ResolvedCredential | Error) => void

/** @param count how many requests share the answer */
type Resolve = (request: ResolveRequest, count: number) => Promise<ResolvedCredential>

interface Question {
  waiting: Answered[]
  /** How many will wait, if all that were answered last ask again at once. */
  expected: number
  /** Runs out when they did not. */
  patience: NodeJS.Timeout | undefined
}

/** A key that no question is kept under. */
const NOBODYS = ''
/** The daemon may have to ask a provider for a new token first, and gives that up after 10 s. */
const TIME_LIMIT = 15_000
/**
 * How long requests that wait are held back, in milliseconds, for those that were just answered to come again and share
 * their ask: under load, one ask for all costs each of them less time than two for half of them.
 */
const PATIENCE = 1

/**
 * Asks the daemon on each request. Requests that wait for the very same question share one ask, but only one that is
 * started after they arrived: the answer is as fresh for each as if it had asked alone.
 */
export class CredentialQuestions implements Questions {
  readonly #resolve: Resolve
  readonly #timeLimit: number
  readonly #questions = new Map<string, Question>()

  constructor(resolve: Resolve, timeLimit: number = TIME_LIMIT) {
    this.#resolve = resolve
    this.#timeLimit = timeLimit
  }

  /** Calls `answered` once, later, with the resolution or the error that refuses it. */
  ask(request: ResolveRequest, answered: Answered): void {
    if (request.sign !== undefined) {
      // The answer is a signature of this one request: nobody may share it.
      this.#askBatch(NOBODYS, request, { waiting: [answered], expected: 0, patience: undefined })
      return
    }
    const { method, host, port, path, rejected_version = '' } = request
    const key = `${rejected_version} ${method} ${host}:${port}${path}`
    const question = this.#questions.get(key)
    if (question !== undefined) {
      question.waiting.push(answered)
      if (question.patience && question.waiting.length >= question.expected) this.#askBatch(key, request, question)
      return
    }
    const asked: Question = { waiting: [answered], expected: 0, patience: undefined }
    this.#questions.set(key, asked)
    // One turn later, so that requests that arrived in the same turn share the ask.
    setImmediate(() => this.#askBatch(key, request, asked))
  }

  #askBatch(key: string, request: ResolveRequest, question: Question): void {
    clearTimeout(question.patience)
    question.patience = undefined
    const batch = question.waiting
    question.waiting = []
    let finished = false
    const finish = (outcome: ResolvedCredential | Error) => {
      if (finished) return
      finished = true
      clearTimeout(timer)
      question.expected = batch.length + question.waiting.length
      if (question.expected === 1) this.#questions.delete(key)
      else question.patience = setTimeout(() => this.#runOut(key, request, question), PATIENCE)
      for (const answered of batch) answered(outcome)
    }
    const timer = setTimeout(() => finish(timedOut(this.#timeLimit)), this.#timeLimit)
    this.#resolve(request, batch.length).then(finish, (error: unknown) =>
      finish(error instanceof Error ? error : unknownError(error)),
    )
  }

  #runOut(key: string, request: ResolveRequest, question: Question): void {
    if (question.waiting.length > 0) this.#askBatch(key, request, question)
    else this.#questions.delete(key)
  }
}

function timedOut(timeLimit: number): BrokerError {
  return new BrokerError('DaemonUnavailableError', `The broker daemon did not answer within ${timeLimit / 1000} s`, {
    hint: 'Look at `broker daemon status` and `broker daemon logs`.',
  })
}

function unknownError(cause: unknown): BrokerError {
  return new BrokerError('InternalError', 'The credential could not be resolved', { cause })
}
