// The seat map through the door: its shape, its tag, lapsed holds, whose seats are mine, and what a cache may keep.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgresStore } from '#inventory/postgres-store.ts'
import { type SmallHouse, smallHouse } from '#test/cinema/small-house.ts'
import { addScreen } from './add-screen.ts'

type Seat = { code: string; status: string; mine?: boolean; price: { amount: number } }

const statusOf = (body: { seats: Seat[] }, code: string) => body.seats.find((seat) => seat.code === code)?.status
const hold = (house: SmallHouse, id: string, seats: string[], headers = house.customer()) =>
  house.post(`/v1/showtimes/${id}/holds`, { seats }, headers)

test('the map has every seat in layout order with place, category, price and status', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show({ startsLocal: '2026-12-05T18:45' })
  const { status, body } = await house.get(`/v1/showtimes/${id}/seats`)
  assert.equal(status, 200)
  const { seats, ...head } = body
  assert.deepEqual(head, {
    showtimeId: id,
    version: 1,
    asOf: '2026-12-01T00:00:00.000000Z',
    currency: 'AUD',
    layoutVersion: 1,
    width: 10,
    height: 7,
    categories: [
      { code: 'CLASSIC', name: 'Classic', price: { amount: 1710, currency: 'AUD' } },
      { code: 'RECLINER', name: 'Recliner', price: { amount: 2410, currency: 'AUD' } },
    ],
  })
  assert.equal(seats.length, 60)
  assert.deepEqual(seats[0], {
    code: 'A1',
    row: 'A',
    number: '1',
    x: 0,
    y: 2,
    category: 'CLASSIC',
    kind: 'ACCESSIBLE',
    price: { amount: 1710, currency: 'AUD' },
    status: 'AVAILABLE',
  })
  assert.deepEqual(
    seats.slice(0, 11).map((seat: Seat) => seat.code),
    ['A1', 'A2', 'A3', 'A4', 'A5', 'A6', 'A7', 'A8', 'A9', 'A10', 'B1'],
  )
})

test('held, booked and blocked seats are seen as such, in words and in letters', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  const inventoryId = Number(id.slice(5))
  const store = postgresStore(house.db.sql)
  await hold(house, id, ['A2'])
  const { body: sold } = await hold(house, id, ['A3'])
  const uuid = sold.holdId.split('_')[2].replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  await store.checkOut(inventoryId, uuid, 600_000)
  assert.equal((await store.confirm(inventoryId, uuid, '00000000-0000-4000-8000-000000000001')).outcome, 'BOOKED')
  await store.block(inventoryId, ['A10'], 'test', 'broken')
  const { body } = await house.get(`/v1/showtimes/${id}/seats`)
  assert.deepEqual(
    ['A1', 'A2', 'A3', 'A10', 'B1'].map((code) => statusOf(body, code)),
    ['AVAILABLE', 'HELD', 'BOOKED', 'BLOCKED', 'AVAILABLE'],
  )
  const short = await house.get(`/v1/showtimes/${id}/seats?view=status`)
  assert.deepEqual(short.body, {
    showtimeId: id,
    version: body.version,
    asOf: body.asOf,
    statuses: `AHBAAAAAAX${'A'.repeat(50)}`,
  })
  assert.equal((await house.get(`/v1/showtimes/${id}/seats?view=colour`)).status, 422)
})

test('304 while nothing changed; every change, and only a change, makes a new tag', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  for (const view of ['full', 'status']) {
    const url = `/v1/showtimes/${id}/seats?view=${view}`
    const first = await house.get(url)
    const etag = String(first.headers.etag)
    assert.match(etag, /^"[^"]+"$/)
    assert.equal((await house.get(url)).text, first.text, 'one tag, the same bytes')
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await house.get(url, { 'if-none-match': known })
      assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', etag], known)
    }
    assert.equal((await house.get(url, { 'if-none-match': '"other"' })).status, 200)
    await hold(house, id, [view === 'full' ? 'B1' : 'B2'])
    const changed = await house.get(url, { 'if-none-match': etag })
    assert.equal(changed.status, 200)
    assert.notEqual(changed.headers.etag, etag)
  }
  const tags = await Promise.all(['full', 'status'].map((view) => house.get(`/v1/showtimes/${id}/seats?view=${view}`)))
  assert.notEqual(tags[0]?.headers.etag, tags[1]?.headers.etag, 'two views never share a tag')
})

test('at the very end of a hold its seats are free on the map and the tag is another one, with no worker running', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  const url = `/v1/showtimes/${id}/seats`
  const held = await hold(house, id, ['C5', 'C6'])
  const before = await house.get(url)
  assert.equal(statusOf(before.body, 'C5'), 'HELD')

  const last = Temporal.Instant.from(held.body.expiresAt).subtract({ microseconds: 1 }).toString()
  await house.db.freezeClock(last)
  assert.equal(
    (await house.get(url, { 'if-none-match': String(before.headers.etag) })).status,
    304,
    'one microsecond before',
  )

  await house.db.freezeClock(held.body.expiresAt)
  const after = await house.get(url, { 'if-none-match': String(before.headers.etag) })
  assert.equal(after.status, 200)
  assert.equal(statusOf(after.body, 'C5'), 'AVAILABLE')
  assert.equal(after.body.version, before.body.version, 'nobody has tidied it')
  assert.equal(after.body.asOf, held.body.expiresAt)
  assert.deepEqual((await house.get(`${url}?view=status`)).body.statuses, 'A'.repeat(60))
})

test('two holds that end one after the other give three different tags at one version', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  const url = `/v1/showtimes/${id}/seats`
  const first = await hold(house, id, ['C1'])
  await house.db.freezeClock('2026-12-01T00:01:00Z')
  const second = await hold(house, id, ['C2'])
  const tags = new Set<unknown>()
  for (const now of ['2026-12-01T00:02:00Z', first.body.expiresAt, second.body.expiresAt]) {
    await house.db.freezeClock(now)
    tags.add((await house.get(url)).headers.etag)
  }
  assert.equal(tags.size, 3)
})

test('my seats are mine, for me alone: their answer is private and its tag is never the public one', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  const url = `/v1/showtimes/${id}/seats`
  const [me, other] = [house.customer(), house.customer()]
  await hold(house, id, ['D4', 'D5'], me)
  const shared = await house.get(url)
  const mine = await house.get(url, me)
  const theirs = await house.get(url, other)
  assert.deepEqual(
    mine.body.seats.filter((seat: Seat) => seat.mine).map((seat: Seat) => seat.code),
    ['D4', 'D5'],
  )
  assert.equal(mine.headers['cache-control'], 'private, no-cache')
  assert.equal(shared.headers['cache-control'], 'public, no-cache')
  assert.notEqual(mine.headers.etag, shared.headers.etag)
  assert.equal(theirs.text, shared.text, 'who holds nothing sees what everybody sees')
  assert.ok(!shared.text.includes('mine'))
  assert.equal(
    (await house.get(url, { ...me, 'if-none-match': String(shared.headers.etag) })).status,
    200,
    'the public map is not mine',
  )
  assert.equal((await house.get(url, { ...me, 'if-none-match': String(mine.headers.etag) })).status, 304)
  assert.equal((await house.get(url, { 'if-none-match': String(mine.headers.etag) })).status, 200)
  assert.deepEqual((await house.get(`${url}?view=status`, me)).body.mine, ['D4', 'D5'])
  assert.match(String(shared.headers.vary), /Authorization/)
})

test('SA7, SA9: the map names nobody: no customer, no hold, no booking', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  const me = house.customer()
  const held = await hold(house, id, ['D4'], me)
  const { text } = await house.get(`/v1/showtimes/${id}/seats`)
  for (const secret of [me.customerId, held.body.holdId, held.body.holdToken, held.body.holdId.split('_')[2]])
    assert.ok(!text.includes(secret))
})

test('a new price is on the map and in its tag', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  const admin = await house.key('admin')
  const before = await house.get(`/v1/showtimes/${id}/seats`)
  const rules = ['CLASSIC', 'RECLINER'].map((category) => ({
    strategy: 'base_price',
    label: category,
    terms: { category, amountMinor: 1400 },
  }))
  const changed = await house.app.inject({
    method: 'PUT',
    url: `/v1/admin/price-lists/prices_${house.priceListId}`,
    headers: admin,
    payload: { taxBasisPoints: 0, rules },
  })
  assert.equal(changed.statusCode, 200, changed.payload)
  const after = await house.get(`/v1/showtimes/${id}/seats`, { 'if-none-match': String(before.headers.etag) })
  assert.equal(after.status, 200)
  assert.equal(after.body.seats[0].price.amount, 1400)
})

test('B068: labels are data: any script, commas and fractions come back unchanged and can be held', async (t) => {
  const house = await smallHouse(t)
  const codes = ['AA1', 'क1', 'ÄÖ7', '1½', 'VIP Lounge', '20,21', '01', '1', 'f5', 'F5', '😀2', '\uffee9']
  const seats = codes.map((code, x) => ({
    code,
    section: 'YELLOW BRICK ROAD VIP',
    row: code,
    number: code,
    x: x * 3,
    y: 2,
    category: 'CLASSIC',
    kind: 'NORMAL' as const,
  }))
  const screenId = await addScreen(house.db.sql, { cinemaId: house.cinemaId, name: 'Labels', seats })
  const id = await house.show({ screenId })
  for (const code of codes) {
    const me = house.customer()
    assert.equal((await hold(house, id, [code], me)).status, 201, code)
    const { body } = await house.get(`/v1/showtimes/${id}/seats`, me)
    assert.deepEqual(
      body.seats.map((seat: Seat) => seat.code),
      codes,
    )
    assert.deepEqual(
      body.seats.filter((seat: Seat) => seat.mine).map((seat: Seat & { section: string }) => [seat.code, seat.section]),
      [[code, 'YELLOW BRICK ROAD VIP']],
    )
  }
})
