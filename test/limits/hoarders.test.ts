// alone
// SB4, an opening in small: one greedy customer and forty who act together hold what they can and never pay, while others come to buy. A hold lasts 3 s here.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runAudit } from '#admin/run-audit.ts'
import { addScreen } from '#cinema/add-screen.ts'
import { seatsOfPattern } from '#cinema/row-pattern.ts'
import { addPriceList } from '#cinema/write-price-list.ts'
import { NOW, type SmallHouse, smallHouse } from '#test/cinema/small-house.ts'
import { chance, printedSeed } from '#test/races/processes.ts'

const TTL_MS = 3_000
const RUN_MS = 11_000
const ROWS = 20
const SEATS_A_ROW = 30
const ACCOUNTS = 41
const SEATS_EACH_MAX = 8
const BUYERS = 170

type Who = { authorization: string; address: string; customerId: string }

test('SB4: hoarders keep no more than their limits, everything is free again within a hold’s time, and buyers get the rest', async (t) => {
  const house = await smallHouse(t, { HOLD_ATTEMPTS_PER_MINUTE: '5', HOLD_TTL_MS: String(TTL_MS) })
  await house.db.shiftClock(Date.parse(NOW) - Date.now())
  const { show, inventoryId } = await freeShow(house)
  const below = chance(printedSeed())
  const codes = seatsOfPattern({ rows: ROWS, seatsPerRow: SEATS_A_ROW, category: 'CLASSIC' }).map(({ code }) => code)
  const hoarders = Array.from({ length: ACCOUNTS }, (_, n) => ({ ...house.customer(), address: `198.51.100.${n}` }))
  const buyers = Array.from({ length: BUYERS }, (_, n) => ({ ...house.customer(), address: `203.0.113.${n}` }))
  const names = hoarders.map(({ customerId }) => customerId)
  const refusals: Record<string, number> = {}
  const turnedAway: Record<string, number> = {}
  const endMs = performance.now() + RUN_MS

  // Each has a block of its own and asks for it again when it has run out; when that is refused, for any eight neighbours.
  async function hoard(who: Who, n: number): Promise<void> {
    let at = n * SEATS_EACH_MAX
    for (; performance.now() < endMs; await sleep(200)) {
      const reply = await hold(house, show, who, { seats: codes.slice(at, at + SEATS_EACH_MAX) })
      if (reply.status === 201) {
        await sleep(reply.body.remainingMs)
        continue
      }
      refusals[reply.body.code] = (refusals[reply.body.code] ?? 0) + 1
      at = below(codes.length - SEATS_EACH_MAX)
    }
  }

  async function buy(who: Who, n: number): Promise<number> {
    await sleep(500 + ((RUN_MS - 1_500) * n) / BUYERS)
    for (let attempt = 0; attempt < 3; attempt++) {
      const held = await hold(house, show, who, { bestAvailable: { quantity: 2 } })
      const paid = held.status === 201 ? await checkOut(house, who, held.body.holdId) : held
      if (paid.body.status === 'CONFIRMED') return 2
      turnedAway[paid.body.code] = (turnedAway[paid.body.code] ?? 0) + 1
      await sleep(300)
    }
    return 0
  }

  let keptMost = 0
  async function watch(): Promise<void> {
    for (; performance.now() < endMs; await sleep(150)) {
      const each = await house.db.sql<{ seats: number }[]>`
        select count(*) as seats from seats s join holds h on h.inventory_id = s.inventory_id and h.id = s.hold_id
        where s.inventory_id = ${inventoryId} and s.status = 'HELD' and s.hold_expires_at > holdfast_now()
          and h.customer_id = any (${names}) group by h.customer_id`
      for (const { seats } of each) assert.ok(seats <= SEATS_EACH_MAX, `one account keeps ${seats} seats`)
      keptMost = Math.max(
        keptMost,
        each.reduce((sum, { seats }) => sum + seats, 0),
      )
    }
  }

  const bought: number[] = []
  const all = [
    ...buyers.map(async (who, n) => bought.push(await buy(who, n))),
    ...hoarders.map((who, n) => hoard(who, n)),
    watch(),
  ]
  // Nobody is left behind when one fails.
  const failed = (await Promise.allSettled(all)).filter((result) => result.status === 'rejected')
  assert.deepEqual(failed, [])
  await sleep(TTL_MS)
  const [left] = await house.db.sql<{ held: number; booked: number }[]>`
    select count(*) filter (where status = 'HELD' and hold_expires_at > holdfast_now()) as held,
      count(*) filter (where status = 'BOOKED') as booked
    from seats where inventory_id = ${inventoryId}`
  const sold = bought.reduce((sum, seats) => sum + seats, 0)
  const rest = codes.length - ACCOUNTS * SEATS_EACH_MAX
  console.log(`hoarders kept ${keptMost} of ${codes.length} seats at most, buyers got ${sold}`, refusals, turnedAway)
  assert.ok(keptMost > ACCOUNTS * SEATS_EACH_MAX * 0.8, `the hoarders tried in earnest: ${keptMost}`)
  assert.ok(keptMost <= ACCOUNTS * SEATS_EACH_MAX)
  assert.ok(sold >= 0.9 * rest, `buyers got ${sold} of ${rest}`)
  assert.deepEqual(left, { held: 0, booked: sold })
  assert.ok((refusals.TOO_MANY_ATTEMPTS ?? 0) > 0 && (refusals.HOLD_CYCLING ?? 0) > 0, JSON.stringify(refusals))
  assert.deepEqual((await runAudit(house.db.sql)).findings, [])
})

/** A show that costs nothing, so that a checkout is a sale. */
async function freeShow(house: SmallHouse): Promise<{ show: string; inventoryId: number }> {
  const { sql } = house.db
  const seats = seatsOfPattern({ rows: ROWS, seatsPerRow: SEATS_A_ROW, category: 'CLASSIC' })
  const screenId = await addScreen(sql, { cinemaId: house.cinemaId, name: 'Huge', seats })
  const rules = [
    { strategy: 'base_price', label: 'Free', terms: { category: 'CLASSIC', amountMinor: 0 } },
    { strategy: 'base_price', label: 'Free', terms: { category: 'RECLINER', amountMinor: 0 } },
  ] as const
  const { cinemaId } = house
  const priceListId = await addPriceList(sql, { cinemaId, name: 'Free', taxBasisPoints: 0, rules: [...rules] })
  const show = await house.show({ screenId, priceListId })
  return { show, inventoryId: Number(show.replace('show_', '')) }
}

async function checkOut(house: SmallHouse, { authorization }: Who, holdId: string) {
  return house.post(`/v1/holds/${holdId}/checkout`, {}, { authorization, 'idempotency-key': holdId })
}

async function hold(house: SmallHouse, show: string, who: Who, payload: object) {
  const reply = await house.app.inject({
    method: 'POST',
    url: `/v1/showtimes/${show}/holds`,
    payload,
    headers: { authorization: who.authorization },
    remoteAddress: who.address,
  })
  return { status: reply.statusCode, body: reply.json() }
}
