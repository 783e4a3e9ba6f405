// Makes a repeated request harmless at the door (rule 8): same key and body, same answer; another body, 422; the first still running, wait or 409.
// The verb behind it must itself be repeatable: after a crash between its commit and our note the next request runs it anew and it finds its effect.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { callerIdentity } from '#identity/caller.ts'
import { hashHoldToken } from '#identity/hold-token.ts'
import {
  dropLease,
  type KeptAnswer,
  type KeptReply,
  readAnswer,
  type Slot,
  storeAnswer,
  takeLease,
} from './answer-store.ts'
import { canonicalJson } from './canonical-json.ts'

export type IdempotencyOptions<Body> = {
  sql: Sql
  /** The shard the answer is kept on. */
  inventoryId: number
  /** Which door: the same key at another door is another key. */
  door: string
  /** Whether a request without a key is refused or simply runs. */
  required: boolean
  /** A field that is never stored; `restore` makes the whole body from what was stored. */
  secret?: { field: keyof Body & string; restore: (stored: Body) => Body }
}

export type Answer<Body> = { status: number; body: Body }

// How long the second of two waits for the first.
const PATIENCE_MS = 3_000
const POLL_FIRST_MS = 20
const POLL_MAX_MS = 250
const KEY = /^[\x21-\x7e]{1,255}$/

/**
 * Sets the reply's status and answers the body to send. Stored: 2xx and final 4xx. Not stored: 409, 429 and 5xx, so that the same key can try again.
 * A replay carries the header Idempotent-Replayed. Throws IDEMPOTENCY_KEY_REQUIRED | _INVALID | _REUSED | _IN_PROGRESS and whatever `run` throws.
 */
export async function withIdempotency<Body extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  options: IdempotencyOptions<Body>,
  run: () => Promise<Answer<Body>>,
): Promise<Body> {
  const key = readKey(request, options.required)
  if (key === null) return answerNow(reply, await run())

  const { sql } = options
  const slot: Slot = { inventoryId: options.inventoryId, scope: `${options.door}:${identityOf(request)}`, key }
  const fingerprint = fingerprintOf(request)
  const waitUntil = performance.now() + PATIENCE_MS
  for (let pauseMs = POLL_FIRST_MS; ; pauseMs = Math.min(pauseMs * 2, POLL_MAX_MS)) {
    const leaseUntil = await takeLease(sql, slot, fingerprint)
    if (leaseUntil) return answerNow(reply, await runAndStore(request, options, slot, leaseUntil, run))
    const kept = await readAnswer(sql, slot)
    if (kept && kept.fingerprint !== fingerprint) throw new Problem('IDEMPOTENCY_KEY_REUSED')
    if (kept?.status === 'DONE') return replay(reply, kept, options)
    if (performance.now() >= waitUntil) throw new Problem('IDEMPOTENCY_IN_PROGRESS', { retryAfterSeconds: 1 })
    await sleep(pauseMs)
  }
}

function readKey(request: FastifyRequest, required: boolean): string | null {
  const given = request.headers['idempotency-key']
  if (given === undefined) {
    if (required) throw new Problem('IDEMPOTENCY_KEY_REQUIRED')
    return null
  }
  if (typeof given !== 'string' || !KEY.test(given)) throw new Problem('IDEMPOTENCY_KEY_INVALID')
  return given
}

// Whoever shows only a hold token is known by it.
function identityOf(request: FastifyRequest): string {
  if (request.caller.kind === 'anonymous' && request.holdToken) return `hold-${hashHoldToken(request.holdToken)}`
  return callerIdentity(request.caller)
}

function fingerprintOf(request: FastifyRequest): string {
  const path = request.url.split('?', 1)[0]
  return createHash('sha256')
    .update(`${request.method} ${path}\n${canonicalJson(request.body)}`)
    .digest('hex')
}

async function runAndStore<Body extends object>(
  request: FastifyRequest,
  { sql, secret }: IdempotencyOptions<Body>,
  slot: Slot,
  leaseUntil: string,
  run: () => Promise<Answer<Body>>,
): Promise<Answer<Body>> {
  const outcome = await run().then(
    (answer) => ({ answer, error: null }),
    (error: unknown) => ({ answer: null, error }),
  )
  const keep = outcome.answer ? keptBody(outcome.answer, secret?.field) : keptProblem(outcome.error)
  const noted = keep ? storeAnswer(sql, slot, leaseUntil, keep.status, keep.reply) : dropLease(sql, slot, leaseUntil)
  // What was done is done; if the note of it is lost, a repeat takes the lease over and finds the effect.
  await noted.catch((error: unknown) =>
    request.log.warn({ reqId: request.id, err: error }, 'an answer could not be kept for its Idempotency-Key'),
  )
  if (!outcome.answer) throw outcome.error
  return outcome.answer
}

type Keep = { status: number; reply: KeptReply } | null

function keptBody<Body extends object>({ status, body }: Answer<Body>, secretField?: string): Keep {
  const stored = Object.fromEntries(Object.entries(body).filter(([name]) => name !== secretField))
  return { status, reply: { body: stored } }
}

function keptProblem(error: unknown): Keep {
  if (!(error instanceof Problem) || error.status >= 500 || error.status === 409 || error.status === 429) return null
  return { status: error.status, reply: { problem: { code: error.code, facts: error.facts } } }
}

function replay<Body extends object>(
  reply: FastifyReply,
  kept: KeptAnswer,
  { secret }: IdempotencyOptions<Body>,
): Body {
  if (!kept.reply || !kept.replyStatus) throw new Error('a kept answer without a reply')
  reply.header('idempotent-replayed', 'true')
  if ('problem' in kept.reply) throw new Problem(kept.reply.problem.code, kept.reply.problem.facts)
  const stored = kept.reply.body as Body
  reply.code(kept.replyStatus)
  return secret ? secret.restore(stored) : stored
}

function answerNow<Body>(reply: FastifyReply, { status, body }: Answer<Body>): Body {
  reply.code(status)
  return body
}
