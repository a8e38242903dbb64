import { BrokerError } from '../protocol/index.ts'
import type { Resolution, ResolveRequest } from '../schemas/index.ts'

type Answered = (outcome: Resolution | Error) => void

interface Question {
  waiting: Answered[]
}

const TIME_LIMIT = 5_000

/**
 * Asks the daemon on each request. Requests that wait for the very same question share one ask, but only one that is
 * started after they arrived: the answer is as fresh for each as if it had asked alone.
 */
export class CredentialQuestions {
  readonly #resolve: (request: ResolveRequest) => Promise<Resolution>
  readonly #timeLimit: number
  readonly #questions = new Map<string, Question>()

  constructor(resolve: (request: ResolveRequest) => Promise<Resolution>, timeLimit: number = TIME_LIMIT) {
    this.#resolve = resolve
    this.#timeLimit = timeLimit
  }

  /** Calls `answered` once, later, with the resolution or the error that refuses it. */
  ask(request: ResolveRequest, answered: Answered): void {
    const key = `${request.method} ${request.host}:${request.port}${request.path}`
    const question = this.#questions.get(key)
    if (question !== undefined) {
      question.waiting.push(answered)
      return
    }
    const asked: Question = { waiting: [answered] }
    this.#questions.set(key, asked)
    // One turn later, so that requests that arrived in the same turn share the ask.
    setImmediate(() => this.#askBatch(key, request, asked))
  }

  #askBatch(key: string, request: ResolveRequest, question: Question): void {
    const batch = question.waiting
    question.waiting = []
    let finished = false
    const finish = (outcome: Resolution | Error) => {
      if (finished) return
      finished = true
      clearTimeout(timer)
      if (question.waiting.length > 0) this.#askBatch(key, request, question)
      else this.#questions.delete(key)
      for (const answered of batch) answered(outcome)
    }
    const timer = setTimeout(() => finish(timedOut(this.#timeLimit)), this.#timeLimit)
    this.#resolve(request).then(finish, (error: unknown) =>
      finish(error instanceof Error ? error : unknownError(error)),
    )
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
