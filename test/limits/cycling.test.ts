// SB3 at the door: who holds the same seats and lets them go again and again has to wait for them; who changes their mind, and whoever else, has not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { NOW, type SmallHouse, smallHouse } from '#test/cinema/small-house.ts'

type Who = { authorization: string }

// Enough attempts that only the cool-down can refuse.
const ENV = { HOLD_ATTEMPTS_PER_MINUTE: '100' }

async function stage(house: SmallHouse) {
  const show = await house.show()
  const ask = async (who: Who, body: object, address: string) => {
    const reply = await house.app.inject({
      method: 'POST',
      url: `/v1/showtimes/${show}/holds`,
      payload: body,
      headers: { authorization: who.authorization },
      remoteAddress: address,
    })
    return { status: reply.statusCode, body: reply.json(), headers: reply.headers }
  }
  return {
    hold: (who: Who, seats: string[], address = '192.0.2.1') => ask(who, { seats }, address),
    best: (who: Who, quantity: number, address = '192.0.2.1') => ask(who, { bestAvailable: { quantity } }, address),
    /** By the hold's own token, which needs no session. */
    async letGo({ holdId, holdToken }: { holdId: string; holdToken: string }, address = '192.0.2.1') {
      const reply = await house.app.inject({
        method: 'DELETE',
        url: `/v1/holds/${holdId}`,
        headers: { 'hold-token': holdToken },
        remoteAddress: address,
      })
      assert.equal(reply.statusCode, 204, reply.body)
    },
  }
}

test('SB3: held and released three times: the fourth hold of these seats is 429 with Retry-After, other seats are not', async (t) => {
  const house = await smallHouse(t, ENV)
  const { hold, letGo } = await stage(house)
  const ann = house.customer()
  for (let n = 0; n < 3; n++) {
    const placed = await hold(ann, ['F5', 'F6'])
    assert.equal(placed.status, 201, JSON.stringify(placed.body))
    await letGo(placed.body)
  }
  const { status, body, headers } = await hold(ann, ['F6', 'F7'])
  assert.deepEqual([status, body.code, body.seats], [429, 'HOLD_CYCLING', [{ code: 'F6', reason: 'given_up' }]])
  assert.ok(body.retryAfterSeconds > 1_700 && body.retryAfterSeconds <= 1_800)
  assert.equal(headers['retry-after'], String(body.retryAfterSeconds))
  assert.ok(headers.ratelimit)
  assert.equal((await hold(ann, ['F7'])).status, 201)

  // Sessions are free to open, addresses are not: a new session there waits for F5, too, and everybody else takes it.
  assert.equal((await hold(house.customer(), ['F5'])).body.code, 'HOLD_CYCLING')
  assert.equal((await hold(house.customer(), ['A5'])).status, 201)
  assert.equal((await hold(house.customer(), ['F5', 'F6'], '198.51.100.1')).status, 201)
})

test('released through another address, or by the hold’s token without a session, is released all the same', async (t) => {
  const house = await smallHouse(t, ENV)
  const { hold, letGo } = await stage(house)
  for (let n = 0; n < 4; n++) {
    const placed = await hold(house.customer(), ['F5'])
    assert.equal(placed.status, 201, JSON.stringify(placed.body))
    await letGo(placed.body, '198.51.100.7')
  }
  assert.equal((await hold(house.customer(), ['F5'])).body.code, 'HOLD_CYCLING')
})

test('holds left to run out three times end in the same wait', async (t) => {
  const house = await smallHouse(t, { ...ENV, HOLD_TTL_MS: '150' })
  await house.db.shiftClock(Date.parse(NOW) - Date.now())
  const { hold } = await stage(house)
  const ann = house.customer()
  for (let n = 0; n < 3; n++) {
    assert.equal((await hold(ann, ['F5'])).status, 201)
    await sleep(200)
  }
  assert.equal((await hold(ann, ['F5'])).body.code, 'HOLD_CYCLING')
})

test('who asks for the best seats is given others than those that were given up from there; nobody is refused', async (t) => {
  const house = await smallHouse(t, ENV)
  const { best, letGo } = await stage(house)
  const given: string[][] = []
  for (let n = 0; n < 6; n++) {
    const placed = await best(house.customer(), 2)
    assert.equal(placed.status, 201, JSON.stringify(placed.body))
    given.push(placed.body.seats)
    await letGo(placed.body)
  }
  const [first, , third, fourth, , sixth] = given.map((seats) => seats.join())
  assert.equal(third, first)
  assert.ok(given[3]?.every((seat) => !given[0]?.includes(seat)))
  assert.equal(sixth, fourth)
  assert.deepEqual((await best(house.customer(), 2, '198.51.100.1')).body.seats, given[0])
})

test('changing the choice ten times keeps the seats that stay; a repeat and a second release count for nothing', async (t) => {
  const house = await smallHouse(t, ENV)
  const { hold, letGo } = await stage(house)
  const ann = house.customer()
  const row = ['F1', 'F2', 'F3', 'F4', 'F5', 'F6', 'F7', 'F8']
  for (let n = 1; n <= 8; n++) assert.equal((await hold(ann, row.slice(0, n))).status, 201)
  for (let n = 0; n < 5; n++) assert.equal((await hold(ann, row)).status, 200)
  const last = await hold(ann, ['F1', 'F2'])
  await letGo(last.body)
  const again = await hold(ann, ['F1', 'F2'])
  assert.equal(again.status, 201)
  for (let n = 0; n < 3; n++) await letGo(last.body)
  assert.equal((await hold(ann, ['F1', 'F2', 'F3'])).status, 201)
})

test('the control: in a house without limits nobody waits', async (t) => {
  const house = await smallHouse(t, { HOLD_ATTEMPTS_PER_MINUTE: '0' })
  const { hold, letGo } = await stage(house)
  const ann = house.customer()
  for (let n = 0; n < 8; n++) {
    const placed = await hold(ann, ['F5'])
    assert.equal(placed.status, 201)
    await letGo(placed.body)
  }
})
