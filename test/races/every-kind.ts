// The deadlock hunt: every kind of transaction there is, in random order, on few inventories, with more clients than connections.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { sweepHolds } from '#holds/sweep-holds.ts'
import { auditInventories } from '#inventory/audit/audit-inventories.ts'
import { requestOf } from '#test/contract/ground.ts'
import type { TestDatabase } from '#test/support/database.ts'
import { chance, type Process, startRace, stranger } from './processes.ts'

const INVENTORIES = 6
const SEATS = Array.from({ length: 10 }, (_, n) => `F${n + 1}`)
const POOLS = [{ code: 'GA', capacity: 20 }]
const LOCK_WAIT_MAX_MS = 1_000

export type HuntSize = { clients: number; poolMax: number; forMs: number; seed: number }
export type HuntCounts = Record<string, number>

/** C9. Answers also how often each thing happened, so that a test can see that none was left out. */
export async function raceC9(db: TestDatabase, size: HuntSize): Promise<{ violations: string[]; counts: HuntCounts }> {
  const race = startRace(db, { poolMax: size.poolMax / 2 })
  const random = chance(size.seed)
  const { store } = race.processOf(0)
  const inventoryIds = await Promise.all(
    Array.from({ length: INVENTORIES }, () => store.open({ seats: SEATS, pools: POOLS })),
  )
  const counts: HuntCounts = {}
  const until = performance.now() + size.forMs
  const holds: { inventoryId: number; holdId: string; bookingId: string }[] = []

  const wish = (inventoryId: number) => {
    const seats = SEATS.filter(() => random(4) === 0).sort(() => random(3) - 1)
    const pools = random(3) === 0 || seats.length === 0 ? [{ code: 'GA', quantity: 1 + random(3) }] : []
    const request = requestOf({
      inventoryId,
      customerId: `customer-${random(40)}`,
      seats,
      pools,
      ttlMs: 5 + random(400),
      unitsMax: 8,
    })
    holds.push({ inventoryId, holdId: request.holdId, bookingId: randomUUID() })
    if (holds.length > 300) holds.shift()
    return request
  }
  const kinds: Record<string, (process: Process, inventoryId: number) => Promise<unknown>> = {
    hold: ({ combiner }, inventoryId) => combiner.place(wish(inventoryId)),
    // Several inventories in one transaction, named in any order.
    batch: ({ store }) => {
      const requests = inventoryIds
        .toSorted(() => random(3) - 1)
        .map((inventoryId) => ({ ...wish(inventoryId), customerId: stranger() }))
      return store.place(requests)
    },
    extend: ({ store }) => onHold((id, { holdId }) => store.extend(id, holdId, random(300), 3)),
    checkOut: ({ store }) => onHold((id, { holdId }) => store.checkOut(id, holdId, random(300))),
    sell: ({ store }) =>
      onHold(async (id, { holdId, bookingId }) => {
        await store.checkOut(id, holdId, 200)
        return store.confirm(id, holdId, bookingId)
      }),
    release: ({ store }) => onHold((id, { holdId }) => store.release(id, holdId)),
    cancel: ({ store }) => onHold((id, { bookingId }) => store.cancel(id, bookingId)),
    block: ({ store }, inventoryId) => store.block(inventoryId, [SEATS[random(10)] as string], 'manager', 'test'),
    unblock: ({ store }, inventoryId) => store.unblock(inventoryId, [SEATS[random(10)] as string]),
    sweep: ({ sql }) => sweepHolds(sql),
    read: ({ store }, inventoryId) => store.read(inventoryId),
  }
  const onHold = (act: (inventoryId: number, hold: { holdId: string; bookingId: string }) => Promise<unknown>) => {
    const hold = holds[random(holds.length)]
    return hold ? act(hold.inventoryId, hold) : Promise.resolve()
  }

  const names = Object.keys(kinds)
  const client = async (number: number) => {
    while (performance.now() < until) {
      const name = names[random(names.length)] as string
      const act = kinds[name] as (typeof kinds)['hold']
      await act(race.processOf(number), inventoryIds[random(INVENTORIES)] as number).then(
        () => (counts[name] = (counts[name] ?? 0) + 1),
        (error: unknown) => race.violations.push(`${name} failed: ${error}`),
      )
    }
  }
  await Promise.all([
    ...Array.from({ length: size.clients }, (_, number) => client(number)),
    watchLocks(db, until, race.violations),
  ])
  counts.deadlocks = await deadlocks(db)
  if (counts.deadlocks > 0) race.violations.push(`PostgreSQL counted ${counts.deadlocks} deadlocks`)
  return { violations: await race.finish(), counts }
}

// Looks while the load runs: nobody may wait long for a lock, and each snapshot of the audit must be clean in itself.
async function watchLocks(db: TestDatabase, until: number, violations: string[]): Promise<void> {
  for (let round = 1; performance.now() < until; round++) {
    await pause(100)
    const [row] = await db.sql<{ waitMs: number | null }[]>`
      select max(extract(epoch from clock_timestamp() - l.waitstart) * 1000)::float8 as wait_ms
      from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()`
    if ((row?.waitMs ?? 0) > LOCK_WAIT_MAX_MS) violations.push(`somebody waits for a lock since ${row?.waitMs} ms`)
    if (round % 20 > 0) continue
    const findings = await db.sql.begin('isolation level repeatable read read only', (tx) => auditInventories(tx))
    for (const { invariant, rows } of findings) violations.push(`under load ${invariant}: ${JSON.stringify(rows[0])}`)
  }
}

async function deadlocks({ sql }: TestDatabase): Promise<number> {
  // Sessions report with a delay of up to a second.
  await pause(1_100)
  const [row] = await sql<
    { deadlocks: number }[]
  >`select deadlocks from pg_stat_database where datname = current_database()`
  return row?.deadlocks ?? 0
}
