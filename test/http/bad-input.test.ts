// Every case of the tables gets exactly its status and code, as a problem document, in time, and changes nothing.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { type SmallHouse, smallHouse } from '#test/cinema/small-house.ts'
import { IDS, QUERIES } from './bad-address-cases.ts'
import { ADMIN, type BadInput, HEADERS, JSON_TEXTS, METHODS, SEAT_LISTS } from './bad-input-cases.ts'
import { BOOKINGS, CALLBACKS, CHECKOUTS, SANDBOX } from './bad-sale-cases.ts'
import { checkOut, runSale, sell } from './sell.ts'

const TABLES = { SEAT_LISTS, IDS, QUERIES, METHODS, HEADERS, JSON_TEXTS, ADMIN }
const SALE_TABLES = { CHECKOUTS, CALLBACKS, BOOKINGS, SANDBOX }
// Twice what the contract says: other tests run on the same two cores.
const REPLY_MAX_MS = 2_000

for (const [table, cases] of Object.entries({ ...TABLES, ...SALE_TABLES })) {
  test(`bad input, ${table}: ${cases.length} cases`, async (t) => {
    const house = await smallHouse(t)
    const [ann, adminKey, scannerKey] = [house.customer(), await house.key('admin'), await house.key('scanner')]
    const show = await house.show()
    const placed = await house.post(
      `/v1/showtimes/${show}/holds`,
      { seats: ['F7'] },
      { authorization: ann.authorization },
    )
    assert.equal(placed.status, 201)
    const addresses: Record<string, string> = { show, hold: placed.body.holdId }
    if (table in SALE_TABLES) Object.assign(addresses, await sellFirst(t, house, ann.authorization))
    const authorization = {
      customer: { authorization: ann.authorization },
      nobody: {},
      admin: { authorization: adminKey.authorization },
      scanner: { authorization: scannerKey.authorization },
    }
    const before = await contents(house)
    for (const one of cases) {
      const [method = '', address = ''] = one.to.split(/ (.*)/s)
      const url = address.replace(/\{(\w+)\}/, (_, name: string) => addresses[name] ?? assert.fail(name))
      const began = performance.now()
      const reply = await house.app.inject({
        method: method as InjectOptions['method'] & string,
        url,
        headers: { ...jsonType(one), ...authorization[one.by ?? 'customer'], ...one.headers },
        ...(one.body === undefined
          ? {}
          : { payload: typeof one.body === 'string' ? one.body : JSON.stringify(one.body) }),
      } as InjectOptions)
      const where = `${one.name}: ${reply.statusCode} ${reply.body.slice(0, 300)}`
      assert.match(String(reply.headers['content-type']), /^application\/problem\+json/, where)
      assert.deepEqual([reply.statusCode, reply.json().code], one.is, where)
      assert.doesNotMatch(reply.body, /\bat \/|node_modules|select |postgres|\.ts:/i, where)
      assert.ok(reply.body.length < 20_000, where)
      assert.ok(performance.now() - began < REPLY_MAX_MS, where)
    }
    assert.deepEqual(await contents(house), before)
  })
}

test('the tables have at least 100 cases, each with a name of its own', () => {
  const names = Object.values({ ...TABLES, ...SALE_TABLES }).flatMap((cases) =>
    cases.map(({ name, to }) => `${name} ${to}`),
  )
  assert.ok(names.length >= 100, `${names.length} cases`)
  assert.equal(new Set(names).size, names.length)
})

/** Another show, so that the hold of the first stays what it is: a booking, its hold and ticket, and an open payment page. */
async function sellFirst(t: TestContext, house: SmallHouse, authorization: string): Promise<Record<string, string>> {
  await runSale(t, house)
  const [sold, open] = [
    await house.show({ startsLocal: '2026-12-05T18:45' }),
    await house.show({ startsLocal: '2026-12-06T18:45' }),
  ]
  const { bookingId, holdId, ticketId } = await sell(house, sold, ['F5', 'F6'], authorization)
  const { paymentUrl } = await checkOut(house, open, ['F5'], authorization)
  return { booking: bookingId, bookedHold: holdId, ticket: ticketId, session: paymentUrl.split('/').at(-1) ?? '' }
}

function jsonType({ body }: BadInput): Record<string, string> {
  return body === undefined ? {} : { 'content-type': 'application/json' }
}

async function contents({ db }: SmallHouse): Promise<unknown> {
  const [row] = await db.sql`
    select (select jsonb_agg(i.version order by i.id) from inventories i) as versions, (select count(*)::int from holds) as holds,
      (select count(*)::int from api_keys) as keys, (select count(*)::int from movies) as movies, (select count(*)::int from cities) as cities,
      (select jsonb_agg(b.status order by b.id) from bookings b) as bookings, (select jsonb_agg(p.status order by p.id) from payments p) as payments,
      (select count(*)::int from settlements) as settlements, (select count(*)::int from payment_callbacks where inventory_id = 0) as strangers`
  return row
}
