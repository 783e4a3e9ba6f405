// Tells the workers of another process, over the database, that there is something to do: for doors and workers that run apart.
import type { FastifyBaseLogger } from 'fastify'
import type { Sql } from '#database/connect.ts'

const CHANNEL = 'holdfast_wake'
// However much is sold, this often at most: a NOTIFY inside every sale would make all commits wait for one lock, so it has a moment of its own after them.
const PAUSE_MS = 50

/** Never fails and never waits: whoever misses it looks by itself a moment later. */
export function wakeElsewhere(sql: Sql): (worker: string) => void {
  const told = new Set<string>()
  return (worker) => {
    if (told.has(worker)) return
    told.add(worker)
    setTimeout(() => {
      told.delete(worker)
      sql`select pg_notify(${CHANNEL}, ${worker})`.catch(() => {})
    }, PAUSE_MS).unref()
  }
}

/** Until the pool is closed; a connection that was lost is opened again. */
export async function listenForWakes(sql: Sql, wake: (worker: string) => void, log: FastifyBaseLogger): Promise<void> {
  await sql
    .listen(CHANNEL, wake)
    .catch((error: unknown) =>
      log.warn({ err: error }, 'workers are not woken by other processes; they look by themselves'),
    )
}
