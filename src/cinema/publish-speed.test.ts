// alone: measures how long it takes to publish a showtime.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { smallHouse } from '#test/cinema/small-house.ts'
import { addScreen } from './add-screen.ts'
import { seatsOfPattern } from './row-pattern.ts'
import { scheduleShowtime } from './schedule-showtime.ts'

test('publishing a showtime of 300 seats takes under 20 ms, median of 30', async (t) => {
  const house = await smallHouse(t)
  const seats = seatsOfPattern({ rows: 15, seatsPerRow: 20, category: 'CLASSIC' })
  const screenId = await addScreen(house.db.sql, { cinemaId: house.cinemaId, name: 'Three hundred', seats })
  const { movieId, priceListId } = house
  const tookMs: number[] = []
  for (let index = 0; index < 30; index++) {
    const startsLocal = Temporal.PlainDateTime.from('2026-12-04T10:00')
      .add({ hours: 3 * index })
      .toString()
    const began = performance.now()
    await house.db.sql.begin((tx) => scheduleShowtime(tx, { movieId, screenId, priceListId, startsLocal }))
    tookMs.push(performance.now() - began)
  }
  const median = tookMs.sort((a, b) => a - b)[15] ?? Number.POSITIVE_INFINITY
  t.diagnostic(`median ${median.toFixed(1)} ms`)
  assert.ok(median < 20, `${median} ms`)
})
