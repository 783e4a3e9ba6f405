// The waiting room by its doors: what a visitor, a buyer and an operator meet.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type SmallHouse, smallHouse } from '#test/cinema/small-house.ts'

export async function setRoom(house: SmallHouse, show: string, body: object) {
  const { authorization } = await house.key('admin')
  const reply = await house.app.inject({
    method: 'PUT',
    url: `/v1/admin/showtimes/${show}/waiting-room`,
    headers: { authorization },
    payload: body,
  })
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.json()
}

test('join, be admitted, hold and pay: with a room on, only who was admitted holds', async (t) => {
  const house = await smallHouse(t)
  const show = await house.show()
  const ann = house.customer()
  const early = await house.post(`/v1/showtimes/${show}/queue`, null, ann)
  assert.deepEqual([early.status, early.body.status, early.body.admission], [200, 'ADMITTED', undefined])

  await setRoom(house, show, { status: 'OPEN', activeMax: 1 })
  const refused = await house.post(`/v1/showtimes/${show}/holds`, { seats: ['A5'] }, ann)
  assert.deepEqual([refused.status, refused.body.code], [403, 'ADMISSION_REQUIRED'], refused.text)

  const joined = await house.post(`/v1/showtimes/${show}/queue`, null, ann)
  assert.deepEqual([joined.status, joined.body.status], [201, 'ADMITTED'], joined.text)
  const again = await house.post(`/v1/showtimes/${show}/queue`, null, ann)
  assert.deepEqual([again.status, again.body.ticket], [200, joined.body.ticket])

  const bob = house.customer()
  const second = await house.post(`/v1/showtimes/${show}/queue`, null, bob)
  assert.deepEqual([second.status, second.body.status, second.body.position], [201, 'WAITING', 1], second.text)
  const third = await house.post(`/v1/showtimes/${show}/queue`, null, house.customer())
  assert.equal(third.body.position, 2)

  const held = await house.post(`/v1/showtimes/${show}/holds`, { seats: ['A5'] }, ann)
  assert.equal(held.status, 201, held.text)
  const paying = await house.post(
    `/v1/holds/${held.body.holdId}/checkout`,
    {},
    { ...ann, 'idempotency-key': 'a', 'holdfast-admission': joined.body.admission },
  )
  assert.equal(paying.status, 201, paying.text)

  const left = await house.app.inject({ method: 'DELETE', url: `/v1/queue/${joined.body.ticket}`, headers: ann })
  assert.equal(left.statusCode, 204)
  const next = await house.get(`/v1/queue/${second.body.ticket}`, bob)
  assert.deepEqual([next.status, next.body.status], [200, 'ADMITTED'], next.text)
})
