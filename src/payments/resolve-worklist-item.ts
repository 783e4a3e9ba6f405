// Takes an item off the worklist once a person has dealt with it; it stays, with who, when and how.
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'

/** Resolving again changes nothing: the first one stands. Throws NOT_FOUND. */
export async function resolveWorklistItem(tx: Tx, id: number, by: string, resolution: string | null): Promise<void> {
  const resolved = await tx`
    update worklist set resolution = case when resolved_at is null then ${resolution} else resolution end,
      resolved_by = coalesce(resolved_by, ${by}), resolved_at = coalesce(resolved_at, clock_timestamp())
    where id = ${id}`
  if (resolved.count === 0) throw new Problem('NOT_FOUND')
}
