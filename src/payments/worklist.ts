// What a person must look at: messages about money that fit nothing, and money that does not move.
import type { Tx } from '#database/connect.ts'

export type WorklistKind =
  | 'UNKNOWN_PAYMENT'
  | 'PAYMENT_MISMATCH'
  | 'AMOUNT_MISMATCH'
  | 'UNKNOWN_REFUND'
  | 'AUTHORISATION_LOST'
  | 'SETTLEMENT_STUCK'
  | 'EVENT_PARKED'

/** Part of the transaction that found it. `facts` has what is needed to act, and nobody's name. */
export async function putOnWorklist(
  tx: Tx,
  entry: { inventoryId: number | null; kind: WorklistKind; facts: Record<string, string | number | null> },
): Promise<void> {
  await tx`
    insert into worklist (inventory_id, kind, facts, created_at)
    values (${entry.inventoryId}, ${entry.kind}, ${tx.json(entry.facts)}, holdfast_now())`
}
