// hold-hot: 20,000 buyers want two seats each of one show of 300 seats, all at once, until it is sold out and everybody has an answer.
import type { Sql } from '#database/connect.ts'
import { createCombiner } from '#inventory/combiner.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { readPicture } from '#inventory/read-picture.ts'
import type { PlaceRequest } from '#inventory/seat-store.ts'
import { type Bench, median, openShows, seeded, sweepStage } from './bench.ts'
import { letIn, type Wish, warm } from './buyers.ts'
import { textbookHold } from './reference/textbook.ts'

const BUYERS = 20_000
const LANES = 3

export const bench: Bench = {
  name: 'hold-hot',
  ours: 'the combiner over the PostgreSQL store',
  reference: 'one transaction a hold through a pool of 10',
  mustReach: 20,
  async run({ pool, quick, say }) {
    const lanesPool = pool(LANES)
    const textbookPool = pool(10)
    const rounds = quick ? 1 : 3
    const buyers = quick ? 5_000 : BUYERS
    const perSecond = { ours: [] as number[], reference: [] as number[] }
    let doubleSales = 0
    await warm(lanesPool, LANES, (request) => postgresStore(lanesPool).place([request]))
    await warm(textbookPool, 10, (request) => textbookHold(textbookPool, request))
    for (let round = 1; round <= rounds; round++) {
      const combiner = createCombiner(postgresStore(lanesPool), {
        lanes: LANES,
        picture: (id) => readPicture(lanesPool, id),
      })
      const ours = await rush(
        lanesPool,
        buyers,
        round,
        async (request) => (await combiner.place(request)).outcome === 'HELD',
      )
      await combiner.close()
      const reference = await rush(lanesPool, buyers, round, (request) => textbookHold(textbookPool, request))
      perSecond.ours.push(ours.perSecond)
      perSecond.reference.push(reference.perSecond)
      doubleSales += ours.doubleSales
      say(
        `round ${round}: ours ${Math.round(ours.perSecond)} answers/s (${ours.granted} holds), reference ${Math.round(reference.perSecond)} answers/s (${reference.granted} holds)`,
      )
    }
    const ours = median(perSecond.ours)
    const reference = median(perSecond.reference)
    if (doubleSales > 0) throw new Error(`${doubleSales} seats were held twice`)
    return {
      name: 'hold-hot',
      ours: Math.round(ours),
      reference: Math.round(reference),
      ratio: ours / reference,
      unit: 'answers/s',
      rounds,
      notes: { buyers, doubleSales },
    }
  },
}

async function rush(sql: Sql, buyers: number, seed: number, place: (request: PlaceRequest) => Promise<boolean>) {
  await sweepStage(sql)
  const [inventoryId = 0] = await openShows(sql, 1)
  const random = seeded(seed)
  const wishes = Array.from({ length: buyers }, (): Wish => {
    const row = 'ABCDEFGHIJKLMNO'[Math.floor(random() * 15)] ?? 'A'
    const seat = 1 + Math.floor(random() * 19)
    return { inventoryId, seats: [`${row}${seat}`, `${row}${seat + 1}`] }
  })
  const crowd = await letIn(buyers, wishes, place)
  const [check] = await sql<{ doubleSales: number; free: number; held: number }[]>`
    select (select count(*)::int from (select c.code from holds h cross join unnest(h.seat_codes) c (code)
        where h.inventory_id = ${inventoryId} group by c.code having count(*) > 1) d) as double_sales,
      count(*) filter (where status = 'AVAILABLE')::int as free, count(*) filter (where status = 'HELD')::int as held
    from seats where inventory_id = ${inventoryId}`
  if (!check || check.held !== crowd.granted * 2)
    throw new Error(`${crowd.granted} holds were granted and ${check?.held} seats are held`)
  // Sold out for pairs: whoever was refused while both of their seats were free to the end was refused wrongly.
  const free = new Set(
    (
      await sql<
        { code: string }[]
      >`select seat_code as code from seats where inventory_id = ${inventoryId} and status = 'AVAILABLE'`
    ).map(({ code }) => code),
  )
  const wronged = wishes.filter(({ seats }) => seats.every((seat) => free.has(seat))).length
  if (wronged > 0) throw new Error(`${wronged} buyers were refused although both of their seats are free`)
  return { perSecond: (buyers / crowd.elapsedMs) * 1_000, granted: crowd.granted, doubleSales: check.doubleSales }
}
