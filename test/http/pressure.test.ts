// alone: Under too much load new demand is refused at once, what others rely on is served, and afterwards everything is as before, without a restart.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { smallHouse } from '#test/cinema/small-house.ts'

test('more holds than a process takes: the surplus is refused at once, maps and callbacks are served, and it recovers by itself', async (t) => {
  const house = await smallHouse(t, { REQUESTS_IN_FLIGHT_MAX: '100' })
  const show = await house.show()
  const hold = (seats: string[]) =>
    house.post(`/v1/showtimes/${show}/holds`, { seats }, { authorization: house.customer().authorization })
  assert.equal((await house.get(`/v1/showtimes/${show}/seats?view=status`)).status, 200)

  await house.db.sql.begin(async (tx) => {
    await tx`select 1 from inventories where id = ${Number(show.slice(5))} for update`
    const waiting = Array.from({ length: 50 }, (_, index) => hold([`B${1 + (index % 10)}`]))
    await sleep(50)
    const beganMs = performance.now()
    const surplus = await Promise.all(Array.from({ length: 200 }, () => hold(['B1'])))
    assert.ok(performance.now() - beganMs < 1_000, `the surplus waited ${performance.now() - beganMs} ms`)
    for (const { status, body, headers } of surplus)
      assert.deepEqual(
        [status, body.code, body.pressedBy, headers['retry-after']],
        [503, 'OVERLOADED', 'requests', '2'],
      )
    assert.equal((await house.get(`/v1/showtimes/${show}/seats?view=status`)).status, 200)
    assert.equal((await house.get('/livez')).status, 200)
    assert.equal((await house.post('/v1/payments/callback', { no: 'signature' }, {})).status, 401)
    await Promise.all(waiting)
  })
  assert.equal((await hold(['B1'])).status, 201)
  const numbers = await house.app.inject('/metrics')
  assert.match(numbers.body, /holdfast_requests_in_flight 0\b/)
})

test('an event loop that stands still: new demand is refused, health answers, and it recovers by itself', async (t) => {
  const house = await smallHouse(t, { OVERLOAD_LAG_MS: '300' })
  const show = await house.show()
  const hold = () =>
    house.post(`/v1/showtimes/${show}/holds`, { seats: ['B1'] }, { authorization: house.customer().authorization })
  // Turns of 200 ms, long enough to be seen by one look.
  for (let turn = 0; turn < 10; turn++) {
    const endMs = performance.now() + 200
    while (performance.now() < endMs);
    await sleep(1)
  }
  const refused = await hold()
  assert.deepEqual([refused.status, refused.body.code, refused.body.pressedBy], [503, 'OVERLOADED', 'event loop'])
  assert.equal((await house.get('/livez')).status, 200)
  assert.equal((await house.get(`/v1/showtimes/${show}/seats?view=status`)).status, 200)
  await sleep(1_200)
  assert.equal((await hold()).status, 201)
})
