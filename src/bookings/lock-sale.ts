// The first thing every change to a sale does: lock the inventory's row, the one lock there is, and read the clock after it.
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'

/**
 * Answers the database's time. It is read in a statement of its own: inside the one that waited for the lock it could be the time before the wait.
 * Throws NOT_FOUND when there is no such inventory.
 */
export async function lockSale(tx: Tx, inventoryId: number): Promise<string> {
  // Sent together, run one after the other: what is asked under the lock should not wait for turns of our event loop, which others wait for then. (A query
  // is sent when it is awaited, unless told to: without `execute` one inside a verb that is called later would go first.)
  const [locked, [clock]] = await Promise.all([
    tx`select 1 from inventories where id = ${inventoryId} for update`.execute(),
    tx<{ now: string }[]>`select holdfast_now() as now`.execute(),
  ])
  if (locked.count === 0) throw new Problem('NOT_FOUND')
  if (!clock) throw new Error('the database has no clock')
  return clock.now
}
