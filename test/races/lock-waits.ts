// Races that are decided by a wait: whoever stood in line behind the inventory's lock is judged by the time at which they came through.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { micros, requestOf } from '#test/contract/ground.ts'
import type { TestDatabase } from '#test/support/database.ts'
import { startRace } from './processes.ts'

const TTL_MS = 150
const LOCKED_MS = 300

/** Traps 1 to 3 (M2, M3): the lock is held by somebody who changes nothing, past the end of Ann's hold; then her payment and Ben's wish come through. */
export async function raceLockWait(db: TestDatabase, { rounds }: { rounds: number }): Promise<string[]> {
  const race = startRace(db)
  const [here, there] = [race.processOf(0), race.processOf(1)]
  for (let round = 0; round < rounds; round++) {
    const inventoryId = await here.store.open({ seats: ['F1', 'F2'] })
    const [placed] = await here.store.place([
      requestOf({ inventoryId, customerId: 'ann', seats: ['F1'], ttlMs: TTL_MS }),
    ])
    if (placed?.outcome !== 'HELD') throw new Error(`Ann was not given F1: ${placed?.outcome}`)
    await here.store.checkOut(inventoryId, placed.holdId, 0)

    let freedAt = ''
    const locker = db.sql.begin(async (tx) => {
      await tx`select 1 from inventories where id = ${inventoryId} for update`
      await pause(LOCKED_MS)
      const [row] = await tx<{ now: string }[]>`select clock_timestamp() as now`
      freedAt = row?.now ?? ''
    })
    await pause(20)
    const [late, ben] = await Promise.all([
      here.store.confirm(inventoryId, placed.holdId, randomUUID()),
      there.store.place([requestOf({ inventoryId, customerId: 'ben', seats: ['F2'], ttlMs: 600_000 })]),
      locker,
    ])
    if (late.outcome !== 'EXPIRED')
      race.violations.push(`round ${round}: a payment that waited past the end was ${late.outcome}`)
    const [granted] = ben
    if (granted?.outcome !== 'HELD') race.violations.push(`round ${round}: Ben was told ${granted?.outcome}`)
    else if (micros(granted.expiresAt) - micros(freedAt) < 600_000_000)
      race.violations.push(
        `round ${round}: Ben's time was counted from before his wait: until ${granted.expiresAt}, let in at ${freedAt}`,
      )
  }
  return race.finish()
}
