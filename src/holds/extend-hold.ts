// Gives the customer more time: a bounded number of times, never beyond the hold's longest life, never once it is over.
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import type { HoldStatus } from '#inventory/seat-store.ts'
import { remainingMs } from './hold-time.ts'

type Limits = { holdTtlMs: number; holdExtensionsMax: number }

/** Throws HOLD_EXPIRED, HOLD_RELEASED, HOLD_CHECKED_OUT, ALREADY_BOOKED, EXTENSION_LIMIT, NOT_FOUND. */
export async function extendHold(
  tx: Tx,
  hold: { inventoryId: number; holdId: string },
  limits: Limits,
): Promise<{ expiresAt: string; remainingMs: number }> {
  const { outcome, status, expiresAt, decidedAt } = await postgresStore(tx).extend(
    hold.inventoryId,
    hold.holdId,
    limits.holdTtlMs,
    limits.holdExtensionsMax,
  )
  if (outcome === 'EXTENDED' && expiresAt) return { expiresAt, remainingMs: remainingMs(expiresAt, decidedAt) }
  if (outcome === 'EXTENSION_LIMIT') throw new Problem('EXTENSION_LIMIT', { limit: limits.holdExtensionsMax })
  throw notHeld(status)
}

/** Why a hold that is not HELD any more cannot be changed. */
function notHeld(status: HoldStatus | null): Problem {
  switch (status) {
    case 'EXPIRED':
      return new Problem('HOLD_EXPIRED')
    case 'RELEASED':
      return new Problem('HOLD_RELEASED')
    case 'CHECKED_OUT':
      return new Problem('HOLD_CHECKED_OUT')
    case 'BOOKED':
      return new Problem('ALREADY_BOOKED')
    default:
      return new Problem('NOT_FOUND')
  }
}
