// The house rules of a hold through the door: best available, no single seat left alone, the sale’s hours.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Reply, smallHouse } from '#test/cinema/small-house.ts'

const told = ({ status, body }: Reply) => [status, body.code]

test('a sale ends a quarter of an hour after the start, to the microsecond, and is not open before its opening', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  const early = await house.show({ startsLocal: '2026-12-06T18:45', saleOpensLocal: '2026-12-02T10:00' })
  assert.deepEqual(told(await house.post(`/v1/showtimes/${early}/holds`, { seats: ['B1'] }, house.customer())), [
    409,
    'SALE_NOT_OPEN',
  ])
  // B063: ten o'clock in Melbourne.
  await house.db.freezeClock('2026-12-01T23:00:00Z')
  assert.equal((await house.post(`/v1/showtimes/${early}/holds`, { seats: ['B1'] }, house.customer())).status, 201)
  await house.db.freezeClock('2026-12-04T07:59:59.999999Z')
  assert.equal((await house.post(`/v1/showtimes/${id}/holds`, { seats: ['B1'] }, house.customer())).status, 201)
  await house.db.freezeClock('2026-12-04T08:00:00Z')
  assert.deepEqual(told(await house.post(`/v1/showtimes/${id}/holds`, { seats: ['B2'] }, house.customer())), [
    410,
    'SALE_CLOSED',
  ])
})

test('best available gives seats side by side near the middle, in the category asked for, and the same ones when asked again', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  const me = house.customer()
  const first = await house.post(`/v1/showtimes/${id}/holds`, { bestAvailable: { quantity: 2 } }, me)
  assert.deepEqual(first.body.seats, ['D4', 'D5'])
  const again = await house.post(`/v1/showtimes/${id}/holds`, { bestAvailable: { quantity: 2 } }, me)
  assert.deepEqual([again.status, again.body.holdId], [200, first.body.holdId])
  const recliner = await house.post(
    `/v1/showtimes/${id}/holds`,
    { bestAvailable: { quantity: 3, category: 'RECLINER' } },
    house.customer(),
  )
  assert.deepEqual(recliner.body.seats, ['F3', 'F4', 'F5'])
  assert.equal(recliner.body.amount.amount, 3 * 2110)
})

test('B101: more than there is side by side is refused with what there is', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show({ screenId: house.strictScreenId })
  await house.post(
    `/v1/admin/showtimes/${id}/block`,
    { seats: ['A3', 'A4'], reason: 'broken' },
    await house.key('admin'),
  )
  const apart = await house.post(`/v1/showtimes/${id}/holds`, { bestAvailable: { quantity: 3 } }, house.customer())
  assert.deepEqual([...told(apart), apart.body.free, apart.body.sideBySide], [409, 'NOT_ENOUGH_SEATS', 4, 2])
  const few = await house.post(`/v1/showtimes/${id}/holds`, { bestAvailable: { quantity: 5 } }, house.customer())
  assert.deepEqual([...told(few), few.body.detail], [409, 'NOT_ENOUGH_SEATS', 'Only 4 of these seats are left.'])
})

test('forty buyers who ask for the best pair at once: no seat twice, no error of the server, and the losers are spread over the hall', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  const answers = await Promise.all(
    Array.from({ length: 40 }, () =>
      house.post(`/v1/showtimes/${id}/holds`, { bestAvailable: { quantity: 2 } }, house.customer()),
    ),
  )
  const won = answers.filter(({ status }) => status === 201)
  const seats = won.flatMap(({ body }) => body.seats as string[])
  assert.equal(new Set(seats).size, seats.length, 'no seat twice')
  t.diagnostic(`${won.length} of 40 seated`)
  assert.ok(won.length >= 8, `${won.length} of 40`)
  for (const { status, body } of answers)
    assert.ok(
      status === 201 || (status === 409 && ['SEATS_UNAVAILABLE', 'NOT_ENOUGH_SEATS'].includes(body.code)),
      `${status} ${body?.code}`,
    )
})

test('B102: in a house that forbids it a choice that leaves one seat alone is refused with the shift; taking the shift works; staff may', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show({ screenId: house.strictScreenId })
  const url = `/v1/showtimes/${id}/holds`
  const refused = await house.post(url, { seats: ['A2', 'A3'] }, house.customer())
  assert.deepEqual(told(refused), [422, 'LEAVES_SINGLE_SEAT'])
  assert.deepEqual(
    [refused.body.seats, refused.body.suggestion],
    [[{ code: 'A1', reason: 'left_alone' }], ['A1', 'A2']],
  )
  assert.match(refused.body.detail, /leave A1 alone; take A1, A2 instead/)
  assert.equal((await house.post(url, { seats: ['A2', 'A3'] }, await house.key('box_office'))).status, 201)

  const other = await house.show({ screenId: house.strictScreenId, startsLocal: '2026-12-05T18:45' })
  const me = house.customer()
  assert.equal((await house.post(`/v1/showtimes/${other}/holds`, { seats: refused.body.suggestion }, me)).status, 201)
  // My own seats count as free for me: moving on to 3-4 leaves two pairs, while 2-3 would leave 1 alone.
  assert.deepEqual(told(await house.post(`/v1/showtimes/${other}/holds`, { seats: ['A2', 'A3'] }, me)), [
    422,
    'LEAVES_SINGLE_SEAT',
  ])
  assert.equal((await house.post(`/v1/showtimes/${other}/holds`, { seats: ['A3', 'A4'] }, me)).status, 201)
  // Elsewhere the rule is off.
  const free = await house.show({ startsLocal: '2026-12-06T18:45' })
  assert.equal((await house.post(`/v1/showtimes/${free}/holds`, { seats: ['A2', 'A3'] }, house.customer())).status, 201)
})
