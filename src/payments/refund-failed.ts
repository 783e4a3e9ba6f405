// A refund that was taken on, or even told as done, and came to nothing at the buyer's bank: it is owed again, and tried anew with a new key.
import type { Tx } from '#database/connect.ts'
import { movementOf } from './movement-key.ts'
import type { Payment } from './payment.ts'

const AGAIN_AFTER_MS = 60_000

/** The inventory is locked. Null: it was no refund of ours. A message about a try that was given up for another one is old news. */
export async function refundFailed(
  tx: Tx,
  { inventoryId, id }: Payment,
  movementKey: string | null,
): Promise<'NOTED' | 'IGNORED' | null> {
  const movement = movementOf(movementKey)
  const [debt] = await tx<{ id: string; status: string; tries: number; amountMinor: number }[]>`
    select id, status, tries, amount_minor from settlements
    where inventory_id = ${inventoryId} and payment_id = ${id} and kind = 'REFUND' and id::text = ${movement.settlementId}`
  if (!debt) return null
  if (debt.tries !== movement.tries || debt.status === 'DROPPED') return 'IGNORED'
  if (debt.status !== 'DONE') {
    await askSoon(tx, inventoryId, debt.id)
    return 'NOTED'
  }
  // done_at stays: that the money went back was told already, and is not told twice.
  await tx`
    update settlements set status = 'DUE', tries = tries + 1, attempts = 0, reference_pending = null, provider_reference = null,
      last_error = 'the refund was done and then failed', next_attempt_at = holdfast_now() + ${AGAIN_AFTER_MS} * interval '1 ms'
    where inventory_id = ${inventoryId} and id = ${debt.id} and status = 'DONE'`
  await tx`
    update payments set refunded_minor = refunded_minor - ${debt.amountMinor}, status = 'CAPTURED', updated_at = holdfast_now()
    where inventory_id = ${inventoryId} and id = ${id}`
  return 'NOTED'
}

/** The provider has news of what it has taken on: the worker asks for it now and not in its own time. */
export async function askSoon(tx: Tx, inventoryId: number, settlementId: string): Promise<void> {
  await tx`
    update settlements set next_attempt_at = holdfast_now()
    where inventory_id = ${inventoryId} and id = ${settlementId} and status = 'DUE' and reference_pending is not null`
}
