// What a message must be signed with: the bytes as they came, a secret of ours, a time that is now on the database's clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signWebhook, TOLERANCE_S, verifyWebhook } from '#core/standard-webhooks.ts'
import { testSale } from '#test/sale/test-sale.ts'

const SECRET = Buffer.from('current')
const AT = '2030-01-01T12:00:00.000000Z'
const BODY = Buffer.from('{"a": 1}')

function later(seconds: number): string {
  return new Date(Date.parse(AT) + seconds * 1000).toISOString()
}

test('the example of the Standard Webhooks specification verifies', () => {
  const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }
  const now = new Date(1_614_265_330_000).toISOString()
  assert.equal(verifyWebhook([secret], headers, Buffer.from('{"test": 2432232314}'), now), headers['webhook-id'])
})

test('SC3: five minutes either way are accepted, a second more is not', () => {
  const headers = signWebhook([SECRET], 'evt', AT, BODY)
  for (const shift of [0, TOLERANCE_S, -TOLERANCE_S])
    assert.equal(verifyWebhook([SECRET], headers, BODY, later(shift)), 'evt')
  for (const shift of [TOLERANCE_S + 1, -TOLERANCE_S - 1]) {
    assert.throws(() => verifyWebhook([SECRET], headers, BODY, later(shift)), { code: 'SIGNATURE_INVALID' })
  }
})

test('SC5: during a rotation both secrets pass, afterwards the old one fails', () => {
  const old = Buffer.from('old')
  const headers = signWebhook([old], 'evt', AT, BODY)
  assert.equal(verifyWebhook([SECRET, old], headers, BODY, AT), 'evt')
  assert.throws(() => verifyWebhook([SECRET], headers, BODY, AT), { code: 'SIGNATURE_INVALID' })
  assert.equal(verifyWebhook([SECRET], signWebhook([old, SECRET], 'evt', AT, BODY), BODY, AT), 'evt')
})

test('SC1, SC4: forged, cut, longer, of another version, of other headers: refused, never an exception', () => {
  const good = signWebhook([SECRET], 'evt', AT, BODY)
  const signature = good['webhook-signature']
  const bad: Record<string, string | undefined>[] = [
    { 'webhook-signature': 'v1,' },
    { 'webhook-signature': '' },
    { 'webhook-signature': signature.slice(0, -4) },
    { 'webhook-signature': `${signature}AAAA` },
    { 'webhook-signature': signature.replace('v1,', 'v2,') },
    { 'webhook-signature': 'v1,%%%%' },
    { 'webhook-signature': undefined },
    { 'webhook-id': 'evt2' },
    { 'webhook-id': undefined },
    { 'webhook-timestamp': String(Number(good['webhook-timestamp']) + 1) },
    { 'webhook-timestamp': 'NaN' },
    { 'webhook-timestamp': '-1' },
    { 'webhook-timestamp': undefined },
  ]
  for (const change of bad) {
    assert.throws(
      () => verifyWebhook([SECRET], { ...good, ...change }, BODY, AT),
      { code: 'SIGNATURE_INVALID' },
      JSON.stringify(change),
    )
  }
  assert.throws(() => verifyWebhook([SECRET], good, Buffer.from('{"a":1}'), AT), { code: 'SIGNATURE_INVALID' })
})

test('B029: odd spacing, key order, escapes and UTF-8 are accepted as signed; one byte changed is not, nor is an old one', async (t) => {
  const sale = await testSale(t)
  const checkout = await sale.checkOut(await sale.hold(['F7']))
  await sale.pay(checkout, { fault: 'never' })
  const { type, data } = await sale.message('authorised', checkout)
  const odd = Buffer.from(
    `\n{ "note":"J\\u00fcrgen Größe 🎬",  "data" : {"currency":"${data.currency}","amount" :${data.amount}, "movement":null,
      "payment":"${data.payment}","merchantReference":"${data.merchantReference}"} ,"type":"${type}"}\n`,
  )
  const [clock] = await sale.sql<{ now: string }[]>`select holdfast_now() as now`
  const headers = { ...signWebhook(sale.webhookSecrets, 'evt_odd', clock?.now ?? '', odd) }
  const post = async (body: Buffer, path = 'callback') => {
    const reply = await fetch(`${sale.server}/v1/payments/${path}`, {
      method: 'POST',
      body: new Uint8Array(body),
      headers,
    })
    return [reply.status, ((await reply.json()) as { code?: string }).code]
  }
  const changed = Buffer.from(odd)
  changed[changed.length - 2] = 0x20
  assert.deepEqual(await post(changed), [401, 'SIGNATURE_INVALID'])
  await sale.db.shiftClock(600_000)
  assert.deepEqual(await post(odd), [401, 'SIGNATURE_INVALID'])
  assert.equal((await sale.sql`select 1 from payment_callbacks`).count, 0)
  await sale.db.resetClock()
  assert.deepEqual(await post(odd, 'webhook'), [200, undefined])
  assert.deepEqual(await post(odd, 'sandbox/callback'), [200, undefined])
  assert.deepEqual(await post(odd, 'nobody/callback'), [404, 'NOT_FOUND'])
  const rows = await sale.sql`select outcome from payment_callbacks`
  assert.deepEqual(
    [...rows].map(({ outcome }) => outcome),
    ['CONFIRMED'],
  )
})

test('signed nonsense is 400 and keeps nothing; unsigned nonsense is 401', async (t) => {
  const sale = await testSale(t)
  const nonsense = [
    '',
    'null',
    '[]',
    '7',
    '{',
    '{}',
    '{"type":1,"data":{}}',
    '{"type":"payment.authorised","data":{"amount":1.5}}',
    '\xff\xfe',
  ]
  for (const text of nonsense) assert.equal(await sale.send(Buffer.from(text, 'latin1')), 400, text)
  const unsigned = await fetch(`${sale.server}/v1/payments/callback`, { method: 'POST', body: '{' })
  assert.equal(unsigned.status, 401)
  assert.equal((await sale.sql`select 1 from payment_callbacks`).count, 0)
})
