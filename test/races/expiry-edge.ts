// The race at a hold's end: another buyer, the payment, the sweeper and an extension within a few milliseconds around it.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { micros, requestOf } from '#test/contract/ground.ts'
import type { TestDatabase } from '#test/support/database.ts'
import { chance, type Race, startRace } from './processes.ts'

const SEATS = ['F1', 'F2']
const TTL_MS = 60
// Requests take about two milliseconds to be decided: fired from 8 before to 4 after, they are decided on both sides of the end.
const FIRED_BEFORE_MS = 8
const FIRED_WITHIN_MS = 12
// Enough rounds at once that the waiting costs nothing, few enough that they do not make each other late.
const ROUNDS_AT_ONCE = 10

export type EdgeCounts = { confirmed: number; extended: number; taken: number; free: number }

/** C3. Every other round is about paying, the rest about extending. Answers also how the rounds ended, so that a test can see that both sides won. */
export async function raceC3(
  db: TestDatabase,
  { rounds, seed }: { rounds: number; seed: number },
): Promise<{ violations: string[]; counts: EdgeCounts }> {
  const race = startRace(db, { poolMax: 20 })
  const random = chance(seed)
  const counts: EdgeCounts = { confirmed: 0, extended: 0, taken: 0, free: 0 }
  for (let round = 0; round < rounds; round += ROUNDS_AT_ONCE)
    await Promise.all(Array.from({ length: ROUNDS_AT_ONCE }, (_, n) => playRound(race, random, round + n, counts)))
  return { violations: await race.finish(), counts }
}

async function playRound(
  race: Race,
  random: (below: number) => number,
  round: number,
  counts: EdgeCounts,
): Promise<void> {
  const [here, there] = [race.processOf(0), race.processOf(1)]
  const paying = round % 2 === 0
  const inventoryId = await here.store.open({ seats: SEATS })
  const wish = requestOf({ inventoryId, customerId: 'ann', seats: SEATS, ttlMs: TTL_MS })
  const [placed] = await here.store.place([wish])
  if (placed?.outcome !== 'HELD') return void race.violations.push(`round ${round}: ${placed?.outcome}`)
  if (paying) await here.store.checkOut(inventoryId, placed.holdId, 0)

  const endMs = micros(placed.expiresAt) / 1000
  const atTheEdge = async <T>(act: () => Promise<T>) => {
    await pause(Math.max(0, endMs - Date.now() - FIRED_BEFORE_MS + random(FIRED_WITHIN_MS)))
    return act()
  }
  const pay = async (holdId: string): Promise<{ outcome: string }> =>
    paying ? here.store.confirm(inventoryId, holdId, randomUUID()) : here.store.extend(inventoryId, holdId, 600_000, 1)
  // Ben wants one of Ann's two seats: the other must come free as well, and Ann must not be sold what is left.
  const [ben, ann] = await Promise.all([
    atTheEdge(() => race.place(1, { inventoryId, customerId: 'ben', seats: ['F2'], ttlMs: 600_000 })),
    atTheEdge(() => pay(placed.holdId)),
    atTheEdge(() => there.store.expire(inventoryId)),
  ])

  const annHas = ann.outcome === 'BOOKED' || ann.outcome === 'EXTENDED'
  const benHas = ben?.outcome === 'HELD'
  if (annHas && benHas) race.violations.push(`round ${round}: Ann was ${ann.outcome} and Ben has F2`)
  if (!annHas && ann.outcome !== 'EXPIRED') race.violations.push(`round ${round}: Ann was told ${ann.outcome}`)
  const state = await here.store.read(inventoryId)
  const seen = state?.seats
    .map(({ status, holdId }) => (status === 'HELD' ? (holdId === placed.holdId ? 'ann' : 'ben') : status))
    .join()
  const right = annHas ? (paying ? 'BOOKED,BOOKED' : 'ann,ann') : benHas ? 'AVAILABLE,ben' : 'AVAILABLE,AVAILABLE'
  if (seen !== right)
    race.violations.push(`round ${round}: Ann ${ann.outcome}, Ben ${ben?.outcome}, and the seats are ${seen}`)
  counts[annHas ? (paying ? 'confirmed' : 'extended') : benHas ? 'taken' : 'free'] += 1
}
