// SF1: a journey with marked secrets at the chattiest level leaves none of them in the log, nor in the numbers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '#core/log.ts'
import { createApiKey } from '#identity/api-keys.ts'
import { smallHouse } from '#test/cinema/small-house.ts'
import { runSale, sell } from './sell.ts'

test('no token, key, cookie or e-mail is in the log of a journey at trace level', async (t) => {
  let logged = ''
  const log = createLog('trace', {
    write(line) {
      logged += line
    },
  })
  const house = await smallHouse(t, {}, {}, { log })
  const show = await house.show()
  const { body: session, headers } = await house.post('/v1/sessions', {})
  const cookie = String(headers['set-cookie']).split(';', 1)[0] ?? ''
  const authorization = `Bearer ${session.token}`
  const { key } = await createApiKey(house.db.sql, { name: 'canary', roles: ['admin'] })
  const placed = await house.post(
    `/v1/showtimes/${show}/holds`,
    { seats: ['B1'] },
    { authorization, 'idempotency-key': 'canary-idempotency-key' },
  )
  const { holdId, holdToken } = placed.body
  const email = 'canary.person@example.com'
  await runSale(t, house)
  const sold = await sell(house, show, ['C1', 'C2'], house.customer().authorization)
  const [ticket] = (await house.get(`/v1/bookings/${sold.bookingId}/tickets`, { 'hold-token': sold.holdToken })).body
    .items
  await house.get(`/v1/tickets/${sold.ticketId}/qr.svg`, { 'hold-token': sold.holdToken })

  await house.get(`/v1/holds/${holdId}`, { 'hold-token': holdToken })
  await house.get(`/v1/holds/${holdId}?token=${holdToken}`, { cookie })
  await house.post(
    `/v1/holds/${holdId}/checkout`,
    { email },
    { authorization, 'idempotency-key': 'canary-checkout-key' },
  )
  await house.post(`/v1/holds/${holdId}/checkout`, { email: `${email}\0` }, { authorization, 'idempotency-key': 'k' })
  const made = await house.post(
    '/v1/admin/api-keys',
    { name: 'second', roles: ['partner'] },
    { authorization: `Bearer ${key}` },
  )
  await house.post('/v1/sessions', {}, { cookie, origin: 'https://evil.example' })
  await house.get('/who', { authorization: `Bearer ${key}x` })
  // An error of the database brings its statement and parameters along.
  log.error({ err: await house.db.sql`select ${holdToken}::int`.catch((error: unknown) => error) }, 'canary')
  log.info({ req: { headers: { authorization, cookie } }, token: session.token, hold: { holdToken } }, 'canary')
  await house.db.drop()
  await house.get(`/v1/holds/${holdId}`, { authorization })

  assert.ok(logged.split('\n').length > 10, 'the log says nothing at all')
  const numbers = await house.parts.metrics.registry.metrics().catch(() => '')
  const secrets = {
    ...{ session: session.token, cookie: cookie.split('=')[1], holdToken, key, made: made.body.key, email },
    ...{ buyer: 'buyer@example.com', ticketCode: ticket.code, page: sold.paymentUrl.split('/').at(-1) },
  }
  for (const [name, secret] of Object.entries(secrets)) {
    assert.ok(String(secret).length > 10, name)
    for (const [place, text] of [
      ['log', logged],
      ['metrics', numbers],
    ] as const)
      assert.equal(
        text.includes(String(secret)),
        false,
        `${name} is in the ${place}: ${text.split('\n').find((line) => line.includes(String(secret)))}`,
      )
  }
})
