// A debt that is stuck, and a person who acts: it is tried once more, or what they did by hand is written down.
import { lockSale } from '#bookings/lock-sale.ts'
import type { ShardedId } from '#core/ids.ts'
import { formatSharded } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Sql, Tx } from '#database/connect.ts'
import { findPayment } from './payment.ts'
import { recordRefund } from './record-settled.ts'

type Stuck = { status: string; kind: string; paymentId: string; amountMinor: number }

/**
 * STUCK -> DUE. After a no of the provider with a new key, for nothing has moved; after silence with the same one, for that is unknown. Throws
 * SETTLEMENT_NOT_STUCK {status}, NOT_FOUND.
 */
export async function retrySettlement(sql: Sql, { inventoryId, uuid }: ShardedId, by: string): Promise<void> {
  await sql.begin(async (tx) => {
    await lockSale(tx, inventoryId)
    await findStuck(tx, inventoryId, uuid)
    await tx`
      update settlements set status = 'DUE', attempts = 0, tries = tries + case when refused then 1 else 0 end, refused = false,
        reference_pending = null, next_attempt_at = holdfast_now()
      where inventory_id = ${inventoryId} and id = ${uuid} and status = 'STUCK'`
    await resolveEntry(tx, formatSharded('debt', inventoryId, uuid), by, 'tried again')
  })
}

/** STUCK -> DONE for a refund that was paid out another way, such as from the till. `reference` says how. Throws as above. */
export async function recordRefundByHand(
  sql: Sql,
  { inventoryId, uuid }: ShardedId,
  { by, reference }: { by: string; reference: string },
): Promise<void> {
  await sql.begin(async (tx) => {
    await lockSale(tx, inventoryId)
    const debt = await findStuck(tx, inventoryId, uuid)
    const payment = await findPayment(tx, inventoryId, debt.paymentId)
    if (debt.kind !== 'REFUND' || !payment) {
      throw new Problem('SETTLEMENT_NOT_STUCK', { kind: debt.kind, detail: 'Only a refund can be done by hand.' })
    }
    await tx`
      update settlements set status = 'DONE', done_at = holdfast_now(), provider_reference = ${`by hand: ${reference} (${by})`}
      where inventory_id = ${inventoryId} and id = ${uuid} and status = 'STUCK'`
    await recordRefund(tx, payment, debt.amountMinor, false)
    await resolveEntry(tx, formatSharded('debt', inventoryId, uuid), by, `paid back by hand: ${reference}`)
  })
}

async function findStuck(tx: Tx, inventoryId: number, id: string): Promise<Stuck> {
  const [debt] = await tx<Stuck[]>`
    select status, kind, payment_id, amount_minor from settlements where inventory_id = ${inventoryId} and id = ${id}`
  if (!debt) throw new Problem('NOT_FOUND')
  if (debt.status !== 'STUCK') throw new Problem('SETTLEMENT_NOT_STUCK', { status: debt.status })
  return debt
}

async function resolveEntry(tx: Tx, settlementId: string, by: string, resolution: string): Promise<void> {
  await tx`
    update worklist set resolved_at = holdfast_now(), resolved_by = ${by}, resolution = ${resolution}
    where kind = 'SETTLEMENT_STUCK' and facts ->> 'settlementId' = ${settlementId} and resolved_at is null`
}
