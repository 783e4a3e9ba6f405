// Attempts a minute (rule 12, SB1, SB2, B075): whom they are counted for, what the headers say, and when the next is allowed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { createMetrics } from '#core/metrics.ts'
import { Problem } from '#core/problem.ts'
import type { Caller } from '#identity/caller.ts'
import { createAttemptLimit, network } from './limit-attempts.ts'

type Attempt = { status: number; headers: Record<string, unknown>; facts: Record<string, unknown> }

async function door(perMinute: number, trustProxy: boolean | string[] = false) {
  let now = 0
  const app = Fastify({ trustProxy })
  const limit = createAttemptLimit(perMinute, createMetrics(), () => now)
  app.get<{ Querystring: { customer: string; kind: string } }>('/', async (request, reply) => {
    const { customer, kind } = request.query
    const roles: ('box_office' | 'partner')[] = [kind === 'partner' ? 'partner' : 'box_office']
    const caller: Caller = kind
      ? { kind: 'key', keyId: 1, name: 'k', roles, actsFor: null }
      : { kind: 'customer', customerId: customer }
    request.caller = caller
    try {
      limit.take(request, reply, customer)
      return {}
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return reply.code(error.status).send(error.facts)
    }
  })
  return {
    async attempt(
      customer: string,
      at: number,
      options: { address?: string; kind?: string; headers?: Record<string, string> } = {},
    ): Promise<Attempt> {
      now = at
      const reply = await app.inject({
        url: `/?customer=${customer}&kind=${options.kind ?? ''}`,
        remoteAddress: options.address ?? '192.0.2.1',
        headers: options.headers ?? {},
      })
      return { status: reply.statusCode, headers: reply.headers, facts: reply.json() }
    },
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
  assert.equal((await attempt('bob', 10_500)).status, 200)
  assert.equal((await attempt('ann', 59_999)).status, 429)
  assert.equal((await attempt('ann', 60_000)).status, 200)
  assert.equal((await attempt('ann', 60_000)).status, 429)
})

test('refused attempts do not make the wait longer', async () => {
  const { attempt } = await door(1)
  await attempt('ann', 0)
  for (let at = 1000; at < 60_000; at += 1000) assert.equal((await attempt('ann', at)).status, 429)
  assert.equal((await attempt('ann', 60_000)).status, 200)
})

test('SB2: new sessions from one address, or one IPv6 network, end at the address; X-Forwarded-For of a stranger changes nothing', async () => {
  const { attempt } = await door(1)
  for (let n = 0; n < 20; n++) {
    const headers = { 'x-forwarded-for': `198.51.100.${n}` }
    assert.equal((await attempt(`c${n}`, n, { address: `2001:db8:0:1::${n}`, headers })).status, 200)
  }
  const over = await attempt('c20', 21, { address: '2001:db8:0:1:ffff::1' })
  assert.deepEqual([over.status, over.facts.per], [429, 'address'])
  assert.equal((await attempt('c21', 21, { address: '2001:db8:0:2::1' })).status, 200)
})

test('staff are not counted, a partner’s customers not by its address, and 0 is no limit', async () => {
  const limited = await door(1)
  for (let n = 0; n < 30; n++) assert.equal((await limited.attempt('desk', n, { kind: 'box_office' })).status, 200)
  for (let n = 0; n < 30; n++) assert.equal((await limited.attempt(`p${n}`, n, { kind: 'partner' })).status, 200)
  assert.equal((await limited.attempt('p0', 31, { kind: 'partner' })).status, 429)
  const open = await door(0)
  for (let n = 0; n < 200; n++) assert.equal((await open.attempt('ann', n)).status, 200)
})

test('network: IPv4 alone, IPv4 in IPv6 as IPv4, IPv6 by its first half, however it is written', () => {
  for (const [address, expected] of [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8:0000:0000:ffff::1', '2001:db8:0:0::/64'],
    ['2001:db8:a:b:c:d:e:f', '2001:db8:a:b::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ] as const)
    assert.equal(network(address), expected, address)
})
