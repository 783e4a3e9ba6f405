// What every provider must do, whoever it is: the facts of the seam, asked of a real adapter. A new provider brings a stage and passes the same list.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type TestContext, test } from 'node:test'
import { Problem } from '#core/problem.ts'
import type { Provider, SessionOrder } from '#payments/providers/provider.ts'

export type ProviderStage = {
  provider: Provider
  /** The time of whoever judges a message's age, RFC 3339. */
  now(): Promise<string>
  /** The buyer's act on the page. */
  pay(providerPaymentId: string): Promise<void>
  /** The last message the provider has sent about this payment, as bytes and headers. */
  lastMessage(providerPaymentId: string): Promise<{ rawBody: Buffer; headers: IncomingHttpHeaders }>
  /** From the next call on answers are lost, after the effect; an end to it restores them. */
  loseAnswers(): () => void
}

export function providerContract(name: string, makeStage: (t: TestContext) => Promise<ProviderStage>): void {
  const fact = (what: string, prove: (stage: ProviderStage) => Promise<void>) =>
    test(`${name}: ${what}`, async (t) => prove(await makeStage(t)))

  fact('the same key opens one session, another key another', async ({ provider, now }) => {
    const order = await orderOf(now)
    const [first, again] = [await provider.open(order), await provider.open(order)]
    assert.equal(again.providerPaymentId, first.providerPaymentId)
    const other = await provider.open(await orderOf(now))
    assert.notEqual(other.providerPaymentId, first.providerPaymentId)
  })

  fact('an opened payment is found by either name and stands in the list; one that is not, is null', async (stage) => {
    const { provider, now } = stage
    const order = await orderOf(now)
    const { providerPaymentId } = await provider.open(order)
    const found = await provider.lookUp({ providerPaymentId, paymentId: order.paymentId })
    const sums = { capturedMinor: 0, refundedMinor: 0, disputedMinor: 0 }
    const { paymentId, amountMinor, currency } = order
    assert.deepEqual(found, { providerPaymentId, paymentId, status: 'OPEN', amountMinor, currency, ...sums })
    assert.deepEqual(await provider.lookUp({ providerPaymentId: null, paymentId }), found)
    assert.deepEqual(await listed(stage, providerPaymentId), found)
    assert.equal(await provider.lookUp({ providerPaymentId: null, paymentId: publicId() }), null)
  })

  fact(
    'authorised, captured, refunded in two parts; each key moves once; more than there is, is a no',
    async (stage) => {
      const { provider } = stage
      const order = await paid(stage)
      const { providerPaymentId } = order
      assert.equal((await state(stage, providerPaymentId)).status, 'AUTHORISED')
      const capture = { ...order, idempotencyKey: randomUUID() }
      const twice = await Promise.all([provider.capture(capture), provider.capture(capture)])
      assert.deepEqual(new Set(twice.map(({ outcome }) => outcome)), new Set(['DONE']))
      assert.equal((await state(stage, providerPaymentId)).capturedMinor, order.amountMinor)
      const part = { ...order, amountMinor: 1_000, idempotencyKey: randomUUID() }
      for (let repeat = 0; repeat < 3; repeat++) assert.equal((await provider.refund(part)).outcome, 'DONE')
      const more = await provider.refund({ ...order, idempotencyKey: randomUUID() })
      assert.equal(more.outcome, 'REFUSED')
      const rest = { ...order, amountMinor: order.amountMinor - 1_000, idempotencyKey: randomUUID() }
      assert.equal((await provider.refund(rest)).outcome, 'DONE')
      const { capturedMinor, refundedMinor } = await state(stage, providerPaymentId)
      assert.deepEqual([capturedMinor, refundedMinor], [order.amountMinor, order.amountMinor])
    },
  )

  fact('what is let go is not captured, what is captured is not let go', async (stage) => {
    const { provider } = stage
    const voided = await paid(stage)
    const key = randomUUID()
    for (let repeat = 0; repeat < 2; repeat++)
      assert.equal((await provider.void({ ...voided, idempotencyKey: key })).outcome, 'DONE')
    assert.equal((await provider.capture({ ...voided, idempotencyKey: randomUUID() })).outcome, 'REFUSED')
    assert.equal((await state(stage, voided.providerPaymentId)).status, 'VOIDED')
    const taken = await paid(stage)
    await provider.capture({ ...taken, idempotencyKey: randomUUID() })
    assert.equal((await provider.void({ ...taken, idempotencyKey: randomUUID() })).outcome, 'REFUSED')
  })

  fact('a session is ended once it is not to be paid; one that was paid is not', async (stage) => {
    const { provider, now } = stage
    const order = await orderOf(now)
    const { providerPaymentId } = await provider.open(order)
    const end = { ...order, providerPaymentId, idempotencyKey: randomUUID() }
    assert.equal((await provider.expireSession(end)).outcome, 'DONE')
    assert.ok(['EXPIRED', 'VOIDED'].includes((await state(stage, providerPaymentId)).status))
    const taken = await paid(stage)
    assert.equal((await provider.expireSession({ ...taken, idempotencyKey: randomUUID() })).outcome, 'REFUSED')
    assert.equal((await state(stage, taken.providerPaymentId)).status, 'AUTHORISED')
  })

  fact(
    'a lost answer is thrown, not told as a no; the same key afterwards tells what was done, once',
    async (stage) => {
      const { provider } = stage
      const order = { ...(await paid(stage)), idempotencyKey: randomUUID() }
      const restore = stage.loseAnswers()
      await assert.rejects(provider.capture(order))
      restore()
      assert.equal((await provider.capture(order)).outcome, 'DONE')
      assert.equal((await state(stage, order.providerPaymentId)).capturedMinor, order.amountMinor)
    },
  )

  fact('a message is judged by the bytes that came: as they are, or not at all', async (stage) => {
    const { provider, now } = stage
    const order = await paid(stage)
    const { rawBody, headers } = await stage.lastMessage(order.providerPaymentId)
    const at = await now()
    const facts = provider.verify(rawBody, headers, at)
    assert.deepEqual(
      [facts.kind, facts.providerPaymentId, facts.paymentId, facts.amountMinor, facts.currency],
      ['AUTHORISED', order.providerPaymentId, order.paymentId, order.amountMinor, order.currency],
    )
    assert.equal(provider.verify(rawBody, headers, at).eventId, facts.eventId)
    const spaced = Buffer.from(` ${rawBody.toString()}`)
    const rewritten = Buffer.from(JSON.stringify(JSON.parse(rawBody.toString()), null, 1))
    for (const bytes of [spaced, rewritten, Buffer.from('{}'), Buffer.alloc(0)])
      assert.throws(() => provider.verify(bytes, headers, at), refused)
    assert.throws(() => provider.verify(rawBody, {}, at), refused)
    const later = new Date(Date.parse(at) + 301_000).toISOString()
    assert.throws(() => provider.verify(rawBody, headers, later), refused)
  })
}

function refused(error: unknown): boolean {
  return error instanceof Problem && error.code === 'SIGNATURE_INVALID'
}

function publicId(): string {
  return `pay_1_${randomUUID().replaceAll('-', '')}`
}

async function orderOf(now: () => Promise<string>): Promise<SessionOrder> {
  const paymentId = publicId()
  const expiresAt = new Date(Date.parse(await now()) + 480_000).toISOString()
  const returnUrl = 'http://localhost:3000/'
  return {
    paymentId,
    amountMinor: 2_400,
    currency: 'EUR',
    description: 'F5',
    expiresAt,
    returnUrl,
    idempotencyKey: paymentId,
  }
}

async function paid(stage: ProviderStage) {
  const order = await orderOf(stage.now)
  const { providerPaymentId } = await stage.provider.open(order)
  await stage.pay(providerPaymentId)
  return { ...order, providerPaymentId }
}

async function state({ provider }: ProviderStage, providerPaymentId: string) {
  const found = await provider.lookUp({ providerPaymentId, paymentId: publicId() })
  assert.ok(found, 'the provider does not know its own payment')
  return found
}

async function listed({ provider }: ProviderStage, providerPaymentId: string) {
  for await (const payment of provider.list('2000-01-01T00:00:00Z', '2100-01-01T00:00:00Z'))
    if (payment.providerPaymentId === providerPaymentId) return payment
  return null
}
