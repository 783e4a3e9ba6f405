// hold-wins: durable holds of two free seats over 400 shows of 300 seats, 1,000 buyers at once, the engine called in process.
// Also says how much of the limit is reached: the same batch statement called back to back with ready-made arguments.

import type { Sql } from '#database/connect.ts'
import { createCombiner } from '#inventory/combiner.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { type Bench, median, openShows, seeded, shuffle, sweepStage } from './bench.ts'
import { letIn, pairsOf, requestFor, type Wish, warm } from './buyers.ts'
import { textbookHold } from './reference/textbook.ts'

const SHOWS = 400
const BUYERS = 1_000
const LANES = 3
const BATCH = 384

export const bench: Bench = {
  name: 'hold-wins',
  ours: 'the combiner over the PostgreSQL store',
  reference: 'one transaction a hold through a pool of 10',
  mustReach: 12,
  async run({ pool, quick, say }) {
    const lanesPool = pool(LANES)
    const textbookPool = pool(10)
    const rounds = quick ? 2 : 5
    const wishesOurs = quick ? 10_000 : 30_000
    const wishesReference = quick ? 1_500 : 4_000
    const perSecond = { ours: [] as number[], reference: [] as number[], limit: [] as number[] }
    await warm(lanesPool, LANES, (request) => postgresStore(lanesPool).place([request]))
    await warm(textbookPool, 10, (request) => textbookHold(textbookPool, request))
    for (let round = 1; round <= rounds; round++) {
      const random = seeded(round)
      const wishes = async (count: number) => {
        await sweepStage(lanesPool)
        return shuffle(pairsOf(await openShows(lanesPool, SHOWS)), random).slice(0, count)
      }

      const combiner = createCombiner(postgresStore(lanesPool), { lanes: LANES, batchMax: BATCH })
      const ours = await letIn(
        BUYERS,
        await wishes(wishesOurs),
        async (request) => (await combiner.place(request)).outcome === 'HELD',
      )
      await combiner.close()
      assertAllGranted('ours', ours.refused)
      perSecond.ours.push((ours.granted / ours.elapsedMs) * 1_000)

      const reference = await letIn(BUYERS, await wishes(wishesReference), (request) =>
        textbookHold(textbookPool, request),
      )
      assertAllGranted('the reference', reference.refused)
      perSecond.reference.push((reference.granted / reference.elapsedMs) * 1_000)

      perSecond.limit.push(await limit(lanesPool, await wishes(wishesOurs)))
      say(
        `round ${round}: ours ${last(perSecond.ours)}/s, reference ${last(perSecond.reference)}/s, limit ${last(perSecond.limit)}/s`,
      )
    }
    const ours = median(perSecond.ours)
    const reference = median(perSecond.reference)
    const ratioOfLimit = ours / median(perSecond.limit)
    return {
      name: 'hold-wins',
      ours: Math.round(ours),
      reference: Math.round(reference),
      ratio: ours / reference,
      unit: 'holds/s',
      rounds,
      notes: {
        limit: Math.round(median(perSecond.limit)),
        ofLimit: Number(ratioOfLimit.toFixed(2)),
        ofLimitMustReach: 0.7,
        lanes: LANES,
        batch: BATCH,
      },
    }
  },
}

// The most this statement can do here: full batches, arguments ready, one lane's batch after the other without a pause.
async function limit(sql: Sql, wishes: Wish[]): Promise<number> {
  const lanes = Array.from({ length: LANES }, (_, lane) =>
    wishes.filter(({ inventoryId }) => inventoryId % LANES === lane).map(requestFor),
  )
  const store = postgresStore(sql)
  const startMs = performance.now()
  const placed = await Promise.all(
    lanes.map(async (requests) => {
      let inLane = 0
      for (let at = 0; at + BATCH <= requests.length; at += BATCH) {
        const outcomes = await store.place(requests.slice(at, at + BATCH))
        inLane += outcomes.length
      }
      return inLane
    }),
  )
  return (placed.reduce((sum, inLane) => sum + inLane, 0) / (performance.now() - startMs)) * 1_000
}

function assertAllGranted(who: string, refused: number): void {
  if (refused > 0) throw new Error(`${who} refused ${refused} holds of free seats`)
}

function last(values: number[]): number {
  return Math.round(values.at(-1) ?? 0)
}
