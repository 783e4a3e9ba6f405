// Many sweepers at once: each lapsed hold is tidied by one of them, none is left, and none is counted twice.
import { setTimeout as pause } from 'node:timers/promises'
import { sweepHolds } from '#holds/sweep-holds.ts'
import { requestOf } from '#test/contract/ground.ts'
import type { TestDatabase } from '#test/support/database.ts'
import { startRace, stranger } from './processes.ts'

const INVENTORIES = 50
const HOLDS_EACH = 10
const TTL_MS = 1

/** B014, in the way it would happen here. */
export async function raceSweepers(
  db: TestDatabase,
  { sweepers, rounds }: { sweepers: number; rounds: number },
): Promise<string[]> {
  const race = startRace(db, { poolMax: sweepers / 2 })
  const { store } = race.processOf(0)
  const seats = Array.from({ length: HOLDS_EACH }, (_, n) => `F${n + 1}`)
  const inventoryIds = await Promise.all(Array.from({ length: INVENTORIES }, () => store.open({ seats })))
  for (let round = 0; round < rounds; round++) {
    const wishes = inventoryIds.flatMap((inventoryId) =>
      seats.map((seat) => requestOf({ inventoryId, customerId: stranger(), seats: [seat], ttlMs: TTL_MS })),
    )
    const granted = (await store.place(wishes)).filter(({ outcome }) => outcome === 'HELD').length
    await pause(TTL_MS * 5)
    const swept = await Promise.all(Array.from({ length: sweepers }, (_, n) => sweepHolds(race.processOf(n).sql)))
    // One that was locked at that moment is left to the next run.
    const rest = await sweepHolds(db.sql)
    const total = swept.reduce((sum, count) => sum + count, rest)
    if (granted !== wishes.length || total !== wishes.length)
      race.violations.push(`round ${round}: ${wishes.length} asked, ${granted} held, ${total} swept`)
    const [left] = await db.sql<{ count: number }[]>`select count(*) from holds where status <> 'EXPIRED'`
    if (left?.count !== 0) race.violations.push(`round ${round}: ${left?.count} are left`)
  }
  return race.finish()
}
