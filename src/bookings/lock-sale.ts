// The first thing every change to a sale does: lock the inventory's row, the one lock there is, and read the clock after it.
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'

/**
 * Answers the database's time. It is read in a statement of its own: inside the one that waited for the lock it could be the time before the wait.
 * Throws NOT_FOUND when there is no such inventory.
 */
export async function lockSale(tx: Tx, inventoryId: number): Promise<string> {
  const locked = await tx`select 1 from inventories where id = ${inventoryId} for update`
  if (locked.count === 0) throw new Problem('NOT_FOUND')
  const [clock] = await tx<{ now: string }[]>`select holdfast_now() as now`
  if (!clock) throw new Error('the database has no clock')
  return clock.now
}
