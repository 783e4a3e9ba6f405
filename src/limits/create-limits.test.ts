// Limits by identity (rule 12, SB1, SB2, B075): whom an attempt is counted for, what the headers say, and when the next is allowed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { createMetrics } from '#core/metrics.ts'
import { Problem } from '#core/problem.ts'
import type { Caller } from '#identity/caller.ts'
import { createLimits } from './create-limits.ts'

type Attempt = { status: number; headers: Record<string, unknown>; facts: Record<string, unknown> }
type Who = { address?: string; kind?: 'box_office' | 'partner'; keyId?: number; headers?: Record<string, string> }

async function door(perMinute: number, { partner = 600, sessions = 300 } = {}) {
  let now = 0
  const app = Fastify()
  const config = {
    holdAttemptsPerMinute: perMinute,
    partnerAttemptsPerMinute: partner,
    sessionsPerMinute: sessions,
  }
  const limits = createLimits({ config, redis: null, metrics: createMetrics() }, () => now)
  app.get<{ Querystring: { customer: string; kind?: 'box_office' | 'partner'; key: number } }>(
    '/:door',
    async (request, reply) => {
      const { customer, kind, key } = request.query
      const named: Caller = customer ? { kind: 'customer', customerId: customer } : { kind: 'anonymous' }
      const caller: Caller = kind ? { kind: 'key', keyId: Number(key), name: 'k', roles: [kind], actsFor: null } : named
      request.caller = caller
      try {
        if (request.url.startsWith('/session')) await limits.openSession(request, reply)
        else await limits.attemptHold(request, reply, { customerId: customer, inventoryId: 1, seats: ['F5'] })
        return {}
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        return reply.code(error.status).send(error.facts)
      }
    },
  )
  async function ask(url: string, at: number, { address = '192.0.2.1', headers = {} }: Who): Promise<Attempt> {
    now = at
    const reply = await app.inject({ url, remoteAddress: address, headers })
    return { status: reply.statusCode, headers: reply.headers, facts: reply.json() }
  }
  return {
    attempt: (customer: string, at: number, who: Who = {}) =>
      ask(`/hold?customer=${customer}${who.kind ? `&kind=${who.kind}&key=${who.keyId ?? 1}` : ''}`, at, who),
    session: (customer: string, at: number, who: Who = {}) => ask(`/session?customer=${customer}`, at, who),
  }
}

test('the sixth attempt in a minute is 429 with the time until the first has aged; one customer does not stop another', async () => {
  const { attempt } = await door(5)
  for (let n = 0; n < 5; n++) {
    const { status, headers } = await attempt('ann', n * 1000)
    assert.deepEqual(
      [status, headers['ratelimit-policy'], headers.ratelimit],
      [200, '"holds";q=5;w=60', `"holds";r=${4 - n};t=${60 - n}`],
    )
  }
  const sixth = await attempt('ann', 10_500)
  assert.deepEqual([sixth.status, sixth.facts], [429, { limit: 5, per: 'customer', retryAfterSeconds: 50 }])
  assert.equal(sixth.headers.ratelimit, '"holds";r=0;t=50')
  assert.equal((await attempt('bob', 10_500)).status, 200)
  assert.equal((await attempt('ann', 59_999)).status, 429)
  assert.equal((await attempt('ann', 60_000)).status, 200)
  assert.equal((await attempt('ann', 60_000)).status, 429)
})

test('refused attempts do not make the wait longer, and use nothing up at the address', async () => {
  const { attempt } = await door(1)
  await attempt('ann', 0)
  for (let at = 1000; at < 60_000; at += 1000) assert.equal((await attempt('ann', at)).status, 429)
  for (let n = 0; n < 19; n++) assert.equal((await attempt(`neighbour${n}`, 59_000)).status, 200)
  assert.equal((await attempt('ann', 60_000)).status, 200)
})

test('SB2: new sessions from one address, or one IPv6 network, end at the address; X-Forwarded-For of a stranger changes nothing', async () => {
  const { attempt } = await door(1)
  for (let n = 0; n < 20; n++) {
    const headers = { 'x-forwarded-for': `198.51.100.${n}` }
    assert.equal((await attempt(`c${n}`, n, { address: `2001:db8:0:1::${n}`, headers })).status, 200)
  }
  const over = await attempt('c20', 21, { address: '2001:db8:0:1:ffff::1' })
  assert.deepEqual([over.status, over.facts], [429, { limit: 20, per: 'address', retryAfterSeconds: 60 }])
  assert.equal(over.headers['ratelimit-policy'], '"holds";q=1;w=60, "address";q=20;w=60')
  assert.equal(over.headers.ratelimit, '"holds";r=0;t=60, "address";r=0;t=60')
  assert.equal((await attempt('c21', 21, { address: '2001:db8:0:2::1' })).status, 200)
})

test('a partner has a budget by key, not by address, and each of its customers the usual one', async () => {
  const { attempt } = await door(1, { partner: 30 })
  for (let n = 0; n < 30; n++) {
    const { status, headers } = await attempt(`p${n}`, n, { kind: 'partner' })
    assert.deepEqual([status, headers.ratelimit], [200, `"holds";r=0;t=60, "partner";r=${29 - n};t=60`])
  }
  const over = await attempt('p30', 31, { kind: 'partner' })
  assert.deepEqual([over.status, over.facts], [429, { limit: 30, per: 'partner', retryAfterSeconds: 60 }])
  assert.equal((await attempt('p31', 31, { kind: 'partner', keyId: 2 })).status, 200)
  assert.equal((await attempt('p31', 32, { kind: 'partner', keyId: 2 })).facts.per, 'customer')
  assert.equal((await attempt('a buyer of our own', 32)).status, 200)
})

test('sessions opened from one address are counted; renewing one is not', async () => {
  const { session } = await door(5, { sessions: 3 })
  for (let n = 0; n < 3; n++) {
    const { status, headers } = await session('', n)
    assert.deepEqual([status, headers.ratelimit], [200, `"sessions";r=${2 - n};t=60`])
  }
  assert.deepEqual((await session('', 4)).facts, { limit: 3, per: 'sessions', retryAfterSeconds: 60 })
  assert.equal((await session('ann', 4)).status, 200)
  assert.equal((await session('', 4, { address: '192.0.2.2' })).status, 200)
  assert.equal((await session('', 60_000)).status, 200)
  const open = await door(5, { sessions: 0 })
  for (let n = 0; n < 1_000; n++) assert.equal((await open.session('', 0)).status, 200)
})

test('staff are not counted, and 0 attempts a minute is a house without limits, of sessions neither', async () => {
  const limited = await door(1)
  for (let n = 0; n < 30; n++) assert.equal((await limited.attempt('desk', n, { kind: 'box_office' })).status, 200)
  const open = await door(0, { sessions: 1 })
  for (let n = 0; n < 200; n++) assert.equal((await open.attempt('ann', n)).status, 200)
  for (let n = 0; n < 200; n++) assert.equal((await open.session('', n)).status, 200)
})
