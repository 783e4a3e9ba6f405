// The audit of this room: every invariant that seats, pools, holds and the history of their changes can break by themselves.
import type { Tx } from '#database/connect.ts'
import { type AuditCheck, type Finding, runChecks } from './audit-check.ts'
import { boundedLives, knownLapses, nothingDangles, poolCounters, reasonedBlocks } from './counting.ts'
import { allowedSteps, gaplessVersions, replayedPools, replayedSeats } from './history.ts'
import { bookedSeats, heldSeats, oneHoldACustomer, wholeHolds } from './ownership.ts'

export const inventoryChecks: AuditCheck[] = [
  bookedSeats,
  heldSeats,
  wholeHolds,
  oneHoldACustomer,
  poolCounters,
  boundedLives,
  reasonedBlocks,
  knownLapses,
  nothingDangles,
  gaplessVersions,
  replayedSeats,
  replayedPools,
  allowedSteps,
]

/** The findings, none when all is well. Under load it needs a snapshot (repeatable read) around it: each check is a statement of its own. */
export function auditInventories(tx: Tx): Promise<Finding[]> {
  return runChecks(tx, inventoryChecks)
}
