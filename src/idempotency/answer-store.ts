// Where the answers to keyed requests are kept, and whose turn it is to work one out. Owner of idempotency_keys.
import type { JSONValue } from 'postgres'
import type { ProblemCode, ProblemFacts } from '#core/problem.ts'
import type { Worker } from '#core/workers.ts'
import type { Sql } from '#database/connect.ts'

/** A key of one caller at one door, on the shard of one inventory. */
export type Slot = { inventoryId: number; scope: string; key: string }
/** A success by its body (without its secret), a refusal by its code and facts. */
export type KeptReply = { body: Record<string, unknown> } | { problem: { code: ProblemCode; facts: ProblemFacts } }
export type KeptAnswer = {
  fingerprint: string
  status: 'IN_PROGRESS' | 'DONE'
  replyStatus: number | null
  reply: KeptReply | null
}

// Beyond it the process that began is taken for dead. Longer than any request may take (the server answers 503 for it before).
export const LEASE_MS = 30_000
const RETENTION_HOURS = 24

/**
 * Ours from now on, when nobody has the key yet or whoever had it let its lease run out: answers the lease's end, which proves later that
 * it is still ours. Null: somebody else's turn, an answer is there already, or the key belongs to another request.
 */
export async function takeLease(sql: Sql, slot: Slot, fingerprint: string): Promise<string | null> {
  const [row] = await sql<{ leaseUntil: string }[]>`
    insert into idempotency_keys as k (inventory_id, scope, key, fingerprint, status, lease_until, created_at)
    select ${slot.inventoryId}, ${slot.scope}, ${slot.key}, decode(${fingerprint}, 'hex'), 'IN_PROGRESS',
      t + ${LEASE_MS} * interval '1 ms', t
    from holdfast_now() t
    on conflict (inventory_id, scope, key) do update set lease_until = excluded.lease_until
    where k.status = 'IN_PROGRESS' and k.fingerprint = excluded.fingerprint and k.lease_until <= excluded.created_at
    returning k.lease_until`
  return row?.leaseUntil ?? null
}

/** Null when nobody has the key: the first request failed in a way that is not kept. */
export async function readAnswer(sql: Sql, slot: Slot): Promise<KeptAnswer | null> {
  const [row] = await sql<KeptAnswer[]>`
    select encode(fingerprint, 'hex') as fingerprint, status, reply_status, reply_body as reply from idempotency_keys
    where inventory_id = ${slot.inventoryId} and scope = ${slot.scope} and key = ${slot.key}`
  return row ?? null
}

/** Writes nothing when the lease was taken over meanwhile: the other request's answer stands. */
export async function storeAnswer(
  sql: Sql,
  slot: Slot,
  leaseUntil: string,
  status: number,
  reply: KeptReply,
): Promise<void> {
  await sql`
    update idempotency_keys set status = 'DONE', reply_status = ${status}, reply_body = ${sql.json(reply as JSONValue)}
    where inventory_id = ${slot.inventoryId} and scope = ${slot.scope} and key = ${slot.key}
      and status = 'IN_PROGRESS' and lease_until = ${leaseUntil}`
}

/** Gives the key back unanswered, so that it can be tried again. */
export async function dropLease(sql: Sql, slot: Slot, leaseUntil: string): Promise<void> {
  await sql`
    delete from idempotency_keys
    where inventory_id = ${slot.inventoryId} and scope = ${slot.scope} and key = ${slot.key}
      and status = 'IN_PROGRESS' and lease_until = ${leaseUntil}`
}

const PRUNE_INTERVAL_MS = 60_000

export function pruneAnswersWorker(sql: Sql): Worker {
  return { name: 'prune-answers', intervalMs: PRUNE_INTERVAL_MS, run: () => pruneAnswers(sql) }
}

/** Forgets answers older than a day, a bounded number at a time. Answers how many. */
export async function pruneAnswers(sql: Sql): Promise<number> {
  const gone = await sql`
    delete from idempotency_keys where (inventory_id, scope, key) in (
      select inventory_id, scope, key from idempotency_keys
      where created_at < holdfast_now() - ${RETENTION_HOURS} * interval '1 hour' order by created_at limit 1000
      for update skip locked)`
  return gone.count
}
