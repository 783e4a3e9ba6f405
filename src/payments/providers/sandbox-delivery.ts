// Carries the sandbox's messages to the merchant over HTTP, as another company would: signed when sent, again and again until it is answered 2xx.

import { signWebhook } from '#core/standard-webhooks.ts'
import type { Worker } from '#core/workers.ts'
import type { Sql } from '#database/connect.ts'
import type { Signing } from './sandbox-callback.ts'
import { finishRefunds } from './sandbox-moves.ts'

export type DeliveryParts = {
  sql: Sql
  webhookSecrets: Buffer[]
  /** Where the merchant wants its messages. */
  callbackUrl: string
}

type Message = { id: string; body: string; copies: number; signing: Signing; attempts: number }

const INTERVAL_MS = 500
const MESSAGES_AT_ONCE = 16
const LEASE_MS = 30_000
const ANSWER_WITHIN_MS = 10_000
const BACKOFF_FIRST_MS = 500
const BACKOFF_MAX_MS = 60_000
const STALE_MS = 600_000

export function sandboxDelivery(parts: DeliveryParts): Worker {
  return { name: 'sandbox-delivery', intervalMs: INTERVAL_MS, run: () => deliverMessages(parts) }
}

/** Until nothing is due, refunds that took their time included. Answers how much was done. */
export async function deliverMessages({ sql, webhookSecrets, callbackUrl }: DeliveryParts): Promise<number> {
  for (let accepted = await finishRefunds(sql); ; ) {
    const messages = await claim(sql)
    if (messages.length === 0) return accepted
    const results = await Promise.all(
      messages.map(async (message) => {
        const answers = await Promise.all(
          Array.from({ length: message.copies }, () => post(sql, webhookSecrets, callbackUrl, message)),
        )
        const done = wrong(message.signing) || answers.every((ok) => ok)
        await note(sql, message, done)
        return done
      }),
    )
    accepted += results.filter((done) => done).length
  }
}

async function claim(sql: Sql): Promise<Message[]> {
  return sql<Message[]>`
    with clock as materialized (select holdfast_now() as t),
    due as (
      select s.id from sandbox_callbacks s, clock c where s.delivered_at is null and s.next_attempt_at <= c.t
      order by s.next_attempt_at limit ${MESSAGES_AT_ONCE} for update of s skip locked)
    update sandbox_callbacks s set attempts = attempts + 1, next_attempt_at = c.t + ${LEASE_MS} * interval '1 ms'
    from due d, clock c where s.id = d.id returning s.id, s.body, s.copies, s.signing, s.attempts`
}

async function post(sql: Sql, secrets: Buffer[], url: string, { id, body, signing }: Message): Promise<boolean> {
  const [clock] = await sql<{ now: string }[]>`
    select holdfast_now() - ${signing === 'stale' ? STALE_MS : 0} * interval '1 ms' as now`
  const rawBody = Buffer.from(body)
  const signed = signWebhook(secretsFor(signing, secrets), id, clock?.now ?? '', rawBody)
  const headers = { 'content-type': 'application/json', ...signed }
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
    const reply = await fetch(url, { method: 'POST', body: rawBody, headers, signal, redirect: 'manual' })
    await reply.body?.cancel()
    return reply.ok
  } catch {
    // The merchant is away; that is what the row is kept for.
    return false
  }
}

function secretsFor(signing: Signing, secrets: Buffer[]): Buffer[] {
  if (signing === 'forged') return [Buffer.from('not the secret')]
  return signing === 'old_secret' ? secrets.slice(-1) : secrets.slice(0, 1)
}

// Refused, and rightly so: nobody sends such a message again.
function wrong(signing: Signing): boolean {
  return signing === 'forged' || signing === 'stale'
}

async function note(sql: Sql, { id, attempts }: Message, done: boolean): Promise<void> {
  const pauseMs = Math.min(BACKOFF_FIRST_MS * 2 ** (attempts - 1), BACKOFF_MAX_MS)
  await sql`
    update sandbox_callbacks set delivered_at = case when ${done} then holdfast_now() end,
      next_attempt_at = holdfast_now() + ${pauseMs} * interval '1 ms' where id = ${id}`
}
