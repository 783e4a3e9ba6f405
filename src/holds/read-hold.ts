// Finds a hold for somebody who may see it: its customer, staff, or whoever has its token. To everybody else it does not exist.
import { parseSharded } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { type Caller, mayAct } from '#identity/caller.ts'
import { provesHold } from '#identity/hold-token.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import type { HoldState } from '#inventory/seat-store.ts'

/** A lapsed hold is shown EXPIRED. Throws NOT_FOUND for an unknown id and for somebody else's alike. */
export async function findHold(
  tx: Tx,
  publicId: string,
  who: { caller: Caller; holdToken: string | null },
): Promise<HoldState & { inventoryId: number }> {
  const { inventoryId, uuid } = parseSharded('hold', publicId)
  const hold = await postgresStore(tx).readHold(inventoryId, uuid)
  if (!hold) throw new Problem('NOT_FOUND')
  if (!mayAct(who.caller, hold.customerId) && !provesHold(who.holdToken, hold.tokenHash)) throw new Problem('NOT_FOUND')
  return { ...hold, inventoryId }
}
