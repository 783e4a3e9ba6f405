// Puts a hold's seats back on sale at once. Releasing what is over already is a success: the seats are free, which is what was asked.
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import type { HoldStatus } from '#inventory/seat-store.ts'

/** The status it had before; CHECKED_OUT tells the caller that a payment may be under way. Throws ALREADY_BOOKED, NOT_FOUND. */
export async function releaseHold(tx: Tx, hold: { inventoryId: number; holdId: string }): Promise<HoldStatus> {
  const { outcome, status } = await postgresStore(tx).release(hold.inventoryId, hold.holdId)
  if (outcome === 'BOOKED') throw new Problem('ALREADY_BOOKED')
  if (outcome === 'NOT_FOUND' || status === null) throw new Problem('NOT_FOUND')
  return status
}
