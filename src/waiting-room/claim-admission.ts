// Single use: an admission goes with one hold to the checkout. Called in the checkout's own transaction, under the lock of the inventory, so that of many
// checkouts at once one has it and every other one sees that.
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'

export type AdmissionUse = { inventoryId: number; round: number; visitor: string; no: number }

/**
 * The same hold may be checked out again (a declined card), and another one once that hold came to nothing: what is used up is used up by a purchase, or
 * by one that is under way. Throws ADMISSION_REQUIRED.
 */
export async function claimAdmission(tx: Tx, use: AdmissionUse, holdId: string): Promise<void> {
  const claimed = await tx`
    insert into admission_purchases as p (inventory_id, round, visitor, admission_no, hold_id, claimed_at)
    values (${use.inventoryId}, ${use.round}, ${use.visitor}, ${use.no}, ${holdId}, holdfast_now())
    on conflict (inventory_id, round, visitor, admission_no) do update set hold_id = excluded.hold_id, claimed_at = excluded.claimed_at
    where p.hold_id = excluded.hold_id or not exists (
      select from holds h where h.inventory_id = p.inventory_id and h.id = p.hold_id and h.status in ('CHECKED_OUT', 'BOOKED'))`
  if (claimed.count === 0) throw usedUp()
}

/** Whether its purchase was made; said at the hold already, before anybody chooses seats in vain. Throws ADMISSION_REQUIRED. */
export async function refuseUsedAdmission(tx: Tx, use: AdmissionUse): Promise<void> {
  const [made] = await tx`
    select from admission_purchases p join holds h on h.inventory_id = p.inventory_id and h.id = p.hold_id
    where p.inventory_id = ${use.inventoryId} and p.round = ${use.round} and p.visitor = ${use.visitor} and p.admission_no = ${use.no}
      and h.status = 'BOOKED'`
  if (made) throw usedUp()
}

function usedUp(): Problem {
  return new Problem('ADMISSION_REQUIRED', {
    detail: 'This admission was used for a purchase; join the waiting room again for another one.',
    reason: 'USED',
  })
}
