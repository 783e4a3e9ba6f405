// What a person must look at: messages about money that fit nothing, money that does not move, and what reconciliation could not repair.
import type { Tx } from '#database/connect.ts'

export type WorklistKind =
  | 'UNKNOWN_PAYMENT'
  | 'PAYMENT_MISMATCH'
  | 'AMOUNT_MISMATCH'
  | 'UNKNOWN_REFUND'
  | 'AUTHORISATION_LOST'
  | 'SETTLEMENT_STUCK'
  | 'EVENT_PARKED'
  | 'DISPUTE'
  | 'UNKNOWN_CHARGE'
  | 'MISSING_AT_PROVIDER'
  | 'AMOUNT'
  | 'BOOKINGS'

export type WorklistEntry = {
  inventoryId: number | null
  kind: WorklistKind
  /** What is needed to act, and nobody's name. */
  facts: Record<string, string | number | null>
  /** What is found again and again (each day, say) is put here once: the name of the finding. */
  finding?: string
}

/** Part of the transaction that found it. */
export async function putOnWorklist(tx: Tx, { inventoryId, kind, facts, finding }: WorklistEntry): Promise<void> {
  await tx`
    insert into worklist (inventory_id, kind, facts, finding, created_at)
    values (${inventoryId}, ${kind}, ${tx.json(facts)}, ${finding ?? null}, holdfast_now())
    on conflict (finding) do nothing`
}
