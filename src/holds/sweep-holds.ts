// Tidies holds that ran out, for history and display; nothing depends on it. Any number of processes may sweep at once.
import type { Worker } from '#core/workers.ts'
import type { Sql } from '#database/connect.ts'
import { postgresStore } from '#inventory/postgres-store.ts'

// One run stays short; what is left over is found by the next.
const INVENTORIES_A_RUN_MAX = 500

export function sweepWorker(sql: Sql, config: { sweepIntervalMs: number }): Worker {
  return { name: 'sweep', intervalMs: config.sweepIntervalMs, run: () => sweepHolds(sql) }
}

/** One short transaction an inventory; one that is locked is in good hands and left alone. Answers how many holds lapsed. */
export async function sweepHolds(sql: Sql): Promise<number> {
  const inventories = await sql<{ inventoryId: number }[]>`
    select i.id as inventory_id from (select holdfast_now() as t offset 0) n join inventories i on i.next_lapse_at <= n.t
    order by i.id limit ${INVENTORIES_A_RUN_MAX}`
  let swept = 0
  for (const { inventoryId } of inventories) {
    swept += await sql.begin(async (tx) => {
      const free = await tx`select 1 from inventories where id = ${inventoryId} for update skip locked`
      return free.count === 0 ? 0 : postgresStore(tx).expire(inventoryId)
    })
  }
  return swept
}
