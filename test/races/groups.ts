// The race of groups: who is refused must have met a winner. Two that refuse each other and leave the seats empty are as wrong as a double sale.
import type { TestDatabase } from '#test/support/database.ts'
import { chance, type RaceSize, startRace, stranger } from './processes.ts'

const SEATS = Array.from({ length: 12 }, (_, n) => `F${n + 1}`)

/** C2: groups of 1 to 8 of 12 seats, all at once. */
export async function raceC2(
  db: TestDatabase,
  { rounds, clients, seed }: RaceSize & { seed: number },
): Promise<string[]> {
  const race = startRace(db)
  const random = chance(seed)
  for (let round = 0; round < rounds; round++) {
    const { store } = race.processOf(round)
    const inventoryId = await store.open({ seats: SEATS })
    const groups = Array.from({ length: clients }, () => randomGroup(random))
    const outcomes = await Promise.all(
      groups.map((seats, client) => race.place(client, { inventoryId, customerId: stranger(), seats })),
    )

    const owners = new Map<string, number>()
    groups.forEach((seats, client) => {
      if (outcomes[client]?.outcome !== 'HELD') return
      for (const seat of seats) {
        if (owners.has(seat))
          race.violations.push(`round ${round}: ${seat} belongs to clients ${owners.get(seat)} and ${client}`)
        owners.set(seat, client)
      }
    })
    groups.forEach((seats, client) => {
      const outcome = outcomes[client]
      if (outcome?.outcome === 'HELD') return
      if (outcome?.outcome !== 'UNAVAILABLE') {
        race.violations.push(`round ${round}: ${JSON.stringify(outcome)}`)
        return
      }
      // Nothing is given back in a round: what stood in the way stands there still.
      const named = outcome.blocking.map(({ code }) => code)
      if (named.length === 0 || named.some((code) => !seats.includes(code) || !owners.has(code)))
        race.violations.push(`round ${round}: both refused: ${seats} was refused for ${named}, and they are free`)
    })
    const state = await store.read(inventoryId)
    const held = state?.seats.filter(({ status }) => status === 'HELD').map(({ code }) => code)
    if (held?.sort().join() !== [...owners.keys()].sort().join())
      race.violations.push(`round ${round}: held are ${held}`)
  }
  return race.finish()
}

function randomGroup(random: (below: number) => number): string[] {
  const left = [...SEATS]
  const size = 1 + random(8)
  return Array.from({ length: size }, () => left.splice(random(left.length), 1)[0] as string)
}
