// docs/events.md says what consumers get: every event, and for those a sale writes exactly the facts they carry.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { EVENT_NAMES } from '#outbox/event.ts'
import { cancelBooking } from '#payments/cancel-booking.ts'
import { testSale } from '#test/sale/test-sale.ts'

const page = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8')

function documentedFacts(name: string): string[] {
  const section = page.split(`\n### ${name}\n`)[1]?.split('\n#')[0]
  assert.ok(section, `docs/events.md has no section "### ${name}"`)
  return [...(section.split('Facts:')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, fact = '']) => fact).toSorted()
}

test('every event has its section, with its facts', () => {
  for (const name of EVENT_NAMES) assert.ok(documentedFacts(name).length > 0, name)
})

test('what a sale writes carries the facts the page names, no more and no less', async (t) => {
  const sale = await testSale(t, { seats: ['A1', 'A2', 'A3', 'A4', 'A5'] })
  const bought = await sale.buy(['A1', 'A2'])
  await cancelBooking(sale.parts, { inventoryId: sale.inventoryId, bookingId: bought.bookingId }, ['A1'])
  await sale.work()
  await cancelBooking(sale.parts, { inventoryId: sale.inventoryId, bookingId: bought.bookingId }, null)
  await sale.work()
  const declined = await sale.checkOut(await sale.hold(['A3']))
  await sale.decline(declined)
  const late = await sale.checkOut(await sale.hold(['A4']))
  await sale.work()
  await sale.db.shiftClock(3_600_000)
  await sale.work()
  const written = await sale.sql<{ name: string; facts: string[] }[]>`
    select distinct name, array(select jsonb_object_keys(payload) order by 1) as facts from outbox`
  assert.ok(late && written.length >= 7, `seen: ${written.map(({ name }) => name)}`)
  for (const { name, facts } of written) assert.deepEqual(facts.toSorted(), documentedFacts(name), name)
})
