// Races for the same seats, all at once: one winner a round, everybody else is told who stands in the way.
import type { TestDatabase } from '#test/support/database.ts'
import { type RaceSize, startRace, stranger } from './processes.ts'

const SEATS_AN_INVENTORY = 100

/** C1, B001: so many strangers ask for one free seat in the same moment, through two processes. */
export async function raceC1(db: TestDatabase, { rounds, clients }: RaceSize): Promise<string[]> {
  const race = startRace(db)
  const seats = Array.from({ length: SEATS_AN_INVENTORY }, (_, n) => `F${n + 1}`)
  let inventoryId = 0
  for (let round = 0; round < rounds; round++) {
    if (round % SEATS_AN_INVENTORY === 0) inventoryId = await race.processOf(0).store.open({ seats })
    const seat = seats[round % SEATS_AN_INVENTORY] as string
    const wish = () => ({ inventoryId, customerId: stranger(), seats: [seat] })
    const outcomes = await Promise.all(Array.from({ length: clients }, (_, client) => race.place(client, wish())))
    const winners = outcomes.flatMap((outcome) => (outcome?.outcome === 'HELD' ? [outcome.holdId] : []))
    if (winners.length !== 1) race.violations.push(`round ${round}: ${winners.length} buyers have seat ${seat}`)
    for (const outcome of outcomes) {
      if (outcome?.outcome === 'HELD') continue
      const named = outcome?.outcome === 'UNAVAILABLE' && JSON.stringify(outcome.blocking)
      if (named !== JSON.stringify([{ code: seat, reason: 'held' }]))
        race.violations.push(`round ${round}: a loser was told ${JSON.stringify(outcome)}`)
    }
  }
  return race.finish()
}

/** B009: two buyers, the same four seats in opposite order, each in a process of their own. */
export async function raceB009(db: TestDatabase, { rounds }: Pick<RaceSize, 'rounds'>): Promise<string[]> {
  const race = startRace(db)
  const seats = ['F5', 'F6', 'F7', 'F8']
  for (let round = 0; round < rounds; round++) {
    const inventoryId = await race.processOf(0).store.open({ seats })
    const outcomes = await Promise.all([
      race.place(0, { inventoryId, customerId: stranger(), seats }),
      race.place(1, { inventoryId, customerId: stranger(), seats: seats.toReversed() }),
    ])
    const words = outcomes.map((outcome) => outcome?.outcome).sort()
    if (words.join() !== 'HELD,UNAVAILABLE') race.violations.push(`round ${round}: ${words}`)
    const held = (await race.processOf(0).store.read(inventoryId))?.seats.map(({ holdId }) => holdId)
    if (!held?.[0] || new Set(held).size !== 1) race.violations.push(`round ${round}: the seats belong to ${held}`)
  }
  return race.finish()
}

/** B010, B013: one customer in many tabs and both processes at once: one live hold in the end, and never more units than the limit. */
export async function raceTabs(db: TestDatabase, { rounds, clients }: RaceSize): Promise<string[]> {
  const race = startRace(db)
  const seats = Array.from({ length: clients }, (_, n) => `F${n + 1}`)
  for (let round = 0; round < rounds; round++) {
    const inventoryId = await race.processOf(0).store.open({ seats })
    const wish = { inventoryId, customerId: 'ann', unitsMax: 3 }
    const tabs = seats.map(async (seat, client) => {
      const outcome = await race.place(client, { ...wish, seats: [seat] })
      // Every other tab goes on to pay, so that what counts against the limit changes while the others ask.
      if (outcome?.outcome === 'HELD' && client % 2 === 0)
        await race.processOf(client).store.checkOut(inventoryId, outcome.holdId, 0)
    })
    await Promise.all(tabs)
    const state = await race.processOf(0).store.read(inventoryId)
    const holds = new Set(state?.seats.flatMap(({ holdId }) => holdId ?? []))
    const own = await Promise.all([...holds].map((holdId) => race.processOf(0).store.readHold(inventoryId, holdId)))
    const loose = own.filter((hold) => hold?.status === 'HELD').length
    if (holds.size > 3) race.violations.push(`round ${round}: one customer has ${holds.size} of 3 seats`)
    if (loose > 1) race.violations.push(`round ${round}: one customer has ${loose} holds side by side`)
    if (holds.size === 0) race.violations.push(`round ${round}: a customer alone was refused everything`)
  }
  return race.finish()
}
