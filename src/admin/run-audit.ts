// Checks every invariant of the domain on a live database: one snapshot, so that it is true under any load and stops nobody.
import type { Sql } from '#database/connect.ts'
import { type AuditCheck, type Finding, runChecks } from '#inventory/audit/audit-check.ts'
import { inventoryChecks } from '#inventory/audit/audit-inventories.ts'
import { onePayment, soldSeats, soldUnits, tickets } from './audit/booking-checks.ts'
import { numberedEvents, queuedEvents, toldInTime, toldMoves } from './audit/event-checks.ts'
import { decidedMoney, evenBooks, keptMoney, settledInTime } from './audit/money-checks.ts'
import { honestPromotions } from './audit/promotion-checks.ts'

/** What happens after the commit, by workers, and how long it may take. */
export type AuditBounds = { ticketsWithinMs: number; settledWithinMs: number; toldWithinMs: number }

export type AuditReport = {
  /** None when all is well. */
  findings: Finding[]
  checkedMs: number
  /** The database's time of the snapshot. */
  asOf: string
  invariants: number
  counts: {
    inventories: number
    seats: number
    holds: number
    changes: number
    bookings: number
    payments: number
    events: number
  }
}

const BOUNDS: AuditBounds = { ticketsWithinMs: 30_000, settledWithinMs: 900_000, toldWithinMs: 60_000 }

export async function runAudit(sql: Sql, bounds: Partial<AuditBounds> = {}): Promise<AuditReport> {
  const startedMs = performance.now()
  const checks = allChecks({ ...BOUNDS, ...bounds })
  const report = await sql.begin('isolation level repeatable read read only', async (tx) => {
    const [clock] = await tx<{ asOf: string }[]>`select holdfast_now() as as_of`
    const [counts] = await tx<AuditReport['counts'][]>`
      select (select count(*) from inventories) as inventories, (select count(*) from seats) as seats, (select count(*) from holds) as holds,
        (select count(*) from inventory_changes) as changes, (select count(*) from bookings) as bookings,
        (select count(*) from payments) as payments, (select count(*) from outbox) as events`
    if (!clock || !counts) throw new Error('the database answered nothing')
    return { ...clock, counts, findings: await runChecks(tx, checks), invariants: checks.length }
  })
  return { ...report, checkedMs: Math.round(performance.now() - startedMs) }
}

/** Exported for the test that every one of them finds what it is there for. */
export function allChecks(bounds: AuditBounds): AuditCheck[] {
  return [
    ...inventoryChecks,
    soldSeats,
    soldUnits,
    onePayment,
    tickets(bounds.ticketsWithinMs),
    decidedMoney,
    settledInTime(bounds.settledWithinMs),
    keptMoney,
    evenBooks,
    honestPromotions,
    numberedEvents,
    toldMoves,
    queuedEvents,
    toldInTime(bounds.toldWithinMs),
  ]
}
