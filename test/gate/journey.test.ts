// The gate as buyers meet it at the door: a no that reads like the database's, never against one's own seats, and gone with what it was for.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMetrics } from '#core/metrics.ts'
import type { Gate } from '#gate/gate.ts'
import { openGate } from '#gate/open-gate.ts'
import { createRedisGate } from '#gate/redis-gate.ts'
import { cancelBooking } from '#payments/cancel-booking.ts'
import { connectRedis } from '#redis/connect-redis.ts'
import { auth, facts, testTrade } from '#test/http/test-trade.ts'
import { testSale } from '#test/sale/test-sale.ts'
import { startRedis, untilReady } from '#test/support/redis.ts'
import { loadConfig } from '../../src/config.ts'

const TTL_MS = 15_000

async function gateOnRedis(t: TestContext) {
  const server = await startRedis(t)
  const redis = connectRedis([server.url])
  t.after(() => redis.disconnect())
  await untilReady(redis)
  return { server, redis, gate: createRedisGate(redis, { ttlMs: TTL_MS, metrics: createMetrics() }) }
}

/** Who gives back does not always wait for it. */
async function untilFree(gate: Gate, inventoryId: number, seats: string[]): Promise<void> {
  for (let left = 40; left > 0; left--) {
    if ((await gate.claim(inventoryId, seats, 'the next one')).outcome === 'CLAIMED') return
    await sleep(25)
  }
  assert.fail(`${seats} were not given back`)
}

test('while somebody is after a seat, others are told that it is held and may come back; nothing is written', async (t) => {
  const { gate } = await gateOnRedis(t)
  const { customer, hold, free, inventoryId } = await testTrade(t, {}, { gate })
  await gate.claim(inventoryId, ['F7'], 'somebody in another process')
  const refused = await hold(customer(), ['F6', 'F7'])
  assert.deepEqual(facts(refused), [409, 'SEATS_UNAVAILABLE'])
  assert.deepEqual(refused.json().seats, [{ code: 'F7', reason: 'held' }])
  assert.equal(refused.json().retryable, true)
  assert.equal(await free(), 10)
  assert.equal((await hold(customer(), ['F6'])).statusCode, 200)
})

test('the customer’s retry, second tab and swap pass, also when a stranger is asking for their seats at that moment', async (t) => {
  const { gate, redis } = await gateOnRedis(t)
  const { customer, hold, inventoryId } = await testTrade(t, {}, { gate })
  const ann = customer()
  const first = (await hold(ann, ['F5', 'F6'])).json()
  assert.equal((await hold(ann, ['F5', 'F6'])).json().repeated, true)
  await redis.flushall()
  assert.equal((await gate.claim(inventoryId, ['F5'], 'a stranger')).outcome, 'CLAIMED')
  const again = (await hold(ann, ['F5', 'F6'])).json()
  assert.deepEqual([again.holdId, again.repeated], [first.holdId, true])
  assert.equal((await hold(ann, ['F5', 'F7'])).statusCode, 200)
  const stranger = await hold(customer(), ['F5'])
  assert.deepEqual(facts(stranger), [409, 'SEATS_UNAVAILABLE'])
})

test('what was claimed is given back: after a refusal, a release and a replacement', async (t) => {
  const { gate } = await gateOnRedis(t)
  const { app, customer, hold, store, inventoryId } = await testTrade(t, {}, { gate })
  await store.block(inventoryId, ['F9'], 'test', 'broken chair')
  assert.deepEqual(facts(await hold(customer(), ['F8', 'F9'])), [409, 'SEATS_UNAVAILABLE'])
  await untilFree(gate, inventoryId, ['F8', 'F9'])

  const ann = customer()
  await hold(ann, ['F5', 'F6'])
  const swapped = (await hold(ann, ['F6', 'F7'])).json()
  await untilFree(gate, inventoryId, ['F5'])
  assert.equal((await gate.claim(inventoryId, ['F6'], 'a stranger')).outcome, 'TAKEN')

  await app.inject({ method: 'DELETE', url: `/v1/holds/${swapped.holdId}`, headers: auth(ann) })
  assert.equal((await gate.claim(inventoryId, ['F6', 'F7'], 'a stranger')).outcome, 'CLAIMED')
})

test('a hold that ends before its claim would takes the claim with it', async (t) => {
  const { gate } = await gateOnRedis(t)
  const { customer, hold, inventoryId, db } = await testTrade(t, {}, { gate })
  const ann = customer()
  await hold(ann, ['F5'])
  await db.shiftClock(590_000)
  assert.equal((await hold(ann, ['F5'])).json().repeated, true)
  await untilFree(gate, inventoryId, ['F5'])
})

test('a cancelled booking, paid or not, leaves nothing at the gate', async (t) => {
  const { gate } = await gateOnRedis(t)
  const sale = await testSale(t)
  for (const paid of [true, false]) {
    const held = await sale.hold(['F5', 'F6'])
    await gate.claim(sale.inventoryId, ['F5', 'F6'], held.customerId)
    const checkout = await sale.checkOut(held)
    if (paid) await sale.pay(checkout)
    await sale.work()
    const [booking] = await sale.sql<{ id: string }[]>`select id from bookings where status in ('CONFIRMED', 'PENDING')`
    const which = { inventoryId: sale.inventoryId, bookingId: booking?.id ?? '' }
    await cancelBooking({ ...sale.parts, gate }, which, null)
    assert.equal((await gate.claim(sale.inventoryId, ['F5', 'F6'], 'the next one')).outcome, 'CLAIMED')
    await gate.free(sale.inventoryId, ['F5', 'F6'], 'the next one')
  }
})

test('without Redis the process is ready all the same, and says that the gate is open', async (t) => {
  const { gate, server } = await gateOnRedis(t)
  const { app, customer, hold } = await testTrade(t, {}, { gate })
  assert.deepEqual((await app.inject('/readyz')).json(), { status: 'ok' })
  await server.kill()
  for (const seat of ['F5', 'F6', 'F7', 'F8']) assert.equal((await hold(customer(), [seat])).statusCode, 200)
  assert.deepEqual((await app.inject('/readyz')).json(), { status: 'ok', gate: 'open' })
})

test('a gate of Redis without a Redis is refused at the start; none is the rule', async (t) => {
  assert.throws(() => loadConfig({ GATE: 'redis' }), /GATE is redis, but REDIS_URL is not set/)
  const { redis } = await gateOnRedis(t)
  const metrics = createMetrics()
  assert.equal(openGate(loadConfig({}), redis, metrics).claimTtlMs, 0)
  const short = loadConfig({ GATE: 'redis', REDIS_URL: 'redis://localhost', HOLD_TTL_MS: '4000' })
  assert.equal(openGate(short, redis, metrics).claimTtlMs, 4_000)
})
