// Races for counted units: never one sold too many, never one left over that was wanted, and the counters equal the recount.
import { randomUUID } from 'node:crypto'
import { requestOf } from '#test/contract/ground.ts'
import type { TestDatabase } from '#test/support/database.ts'
import { chance, type Process, type RaceSize, startRace, stranger } from './processes.ts'

const one = [{ code: 'GA', quantity: 1 }]

/** B003: the last unit and so many buyers. */
export async function raceLastUnit(db: TestDatabase, { rounds, clients }: RaceSize): Promise<string[]> {
  const race = startRace(db)
  for (let round = 0; round < rounds; round++) {
    const inventoryId = await race.processOf(0).store.open({ seats: [], pools: [{ code: 'GA', capacity: 1 }] })
    const wish = () => ({ inventoryId, customerId: stranger(), pools: one })
    const outcomes = await Promise.all(Array.from({ length: clients }, (_, client) => race.place(client, wish())))
    const winners = outcomes.filter((outcome) => outcome?.outcome === 'HELD').length
    if (winners !== 1) race.violations.push(`round ${round}: ${winners} buyers have the last unit`)
  }
  return race.finish()
}

/** C4, B021: a sale of capacity and intended overbooking with more buyers than units: exactly all of them are sold. */
export async function raceC4(db: TestDatabase, { rounds, clients }: RaceSize): Promise<string[]> {
  const race = startRace(db)
  for (let round = 0; round < rounds; round++) {
    const { store } = race.processOf(round)
    const inventoryId = await store.open({ seats: [], pools: [{ code: 'GA', capacity: 180, overbookLimit: 3 }] })
    const buy = async (client: number) => {
      const outcome = await race.place(client, { inventoryId, customerId: stranger(), pools: one })
      if (outcome?.outcome !== 'HELD') return
      await store.checkOut(inventoryId, outcome.holdId, 0)
      await store.confirm(inventoryId, outcome.holdId, randomUUID())
    }
    await Promise.all(Array.from({ length: clients }, (_, client) => buy(client)))
    const pool = (await store.read(inventoryId))?.pools[0]
    if (pool?.sold !== 183 || pool.held !== 0)
      race.violations.push(`round ${round}: sold ${pool?.sold} of 183, held ${pool?.held}`)
  }
  return race.finish()
}

/** B007: two orders for different seats of one fare class in the same moment both count. */
export async function raceB007(db: TestDatabase, { rounds }: Pick<RaceSize, 'rounds'>): Promise<string[]> {
  const race = startRace(db)
  for (let round = 0; round < rounds; round++) {
    const { store } = race.processOf(0)
    const inventoryId = await store.open({ seats: ['12A', '14C'], pools: [{ code: 'GA', capacity: 9 }] })
    const wishOf = (seat: string) => ({ inventoryId, customerId: stranger(), seats: [seat], pools: one })
    await Promise.all([race.place(0, wishOf('12A')), race.place(1, wishOf('14C'))])
    const held = (await store.read(inventoryId))?.pools[0]?.held
    if (held !== 2) race.violations.push(`round ${round}: two holds, and held is ${held}`)
  }
  return race.finish()
}

/** B006: random holds, releases, payments, cancellations and sweeps of one fare class, many at a time; the audit recounts. */
export async function raceB006(
  db: TestDatabase,
  { clients, calls, seed }: { clients: number; calls: number; seed: number },
): Promise<string[]> {
  const race = startRace(db, { poolMax: 10 })
  const random = chance(seed)
  const inventoryId = await race
    .processOf(0)
    .store.open({ seats: [], pools: [{ code: 'GA', capacity: 60, overbookLimit: 4 }] })
  const holds: { holdId: string; bookingId: string }[] = []

  const call = async ({ store, combiner }: Process) => {
    const { holdId, bookingId } = holds[random(holds.length)] ?? { holdId: randomUUID(), bookingId: randomUUID() }
    switch (random(8)) {
      case 0:
        return store.release(inventoryId, holdId)
      case 1:
      case 2:
        await store.checkOut(inventoryId, holdId, 0)
        return store.confirm(inventoryId, holdId, bookingId)
      case 3:
        return store.cancel(inventoryId, bookingId)
      case 4:
        return store.expire(inventoryId)
      default: {
        const pools = [{ code: 'GA', quantity: 1 + random(4) }]
        const wish = requestOf({ inventoryId, customerId: stranger(), pools, ttlMs: 20 + random(200) })
        holds.push({ holdId: wish.holdId, bookingId: randomUUID() })
        return combiner.place(wish)
      }
    }
  }
  let left = calls
  const client = async (number: number) => {
    while (left-- > 0)
      await call(race.processOf(number)).catch((error: unknown) => race.violations.push(`a call failed: ${error}`))
  }
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return race.finish()
}
