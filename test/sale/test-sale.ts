// A small sale on a database of its own: one inventory, the sandbox, a server that listens for its messages, and workers that run when told to.
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { Environment } from '#config.ts'
import { parseSharded } from '#core/ids.ts'
import { signWebhook } from '#core/standard-webhooks.ts'
import { hashHoldToken, holdTokenOf } from '#identity/hold-token.ts'
import type { Mac } from '#identity/mac.ts'
import { loadSecret } from '#identity/secrets.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { relayEvents } from '#outbox/relay.ts'
import { inProcessSink } from '#outbox/sink.ts'
import { expirePendingBookings } from '#payments/expire-bookings.ts'
import type { Provider, Providers } from '#payments/providers/provider.ts'
import { type SandboxMessage, sandboxMessage } from '#payments/providers/sandbox-callback.ts'
import { deliverMessages } from '#payments/providers/sandbox-delivery.ts'
import type { PayOrder } from '#payments/providers/sandbox-session.ts'
import { settleDueDebts } from '#payments/settle-debts.ts'
import { type Checkout, startCheckout } from '#payments/start-checkout.ts'
import type { Quote } from '#pricing/quote.ts'
import { testApp } from '#test/http/test-app.ts'
import { allConsumers } from '../../src/all-workers.ts'

export const PRICE_MINOR = 1200
export const CURRENCY = 'EUR'
export const SESSION_MS = 480_000
export const HOLD_MS = 600_000
const CINEMA_RULES = [
  { untilMinutesBefore: 120, percent: 100 },
  { untilMinutesBefore: 0, percent: 50 },
]

export type SaleOptions = {
  env?: Environment
  seats?: string[]
  pools?: { code: string; capacity: number }[]
  refundRules?: { untilMinutesBefore: number; percent: number }[]
  startsInMinutes?: number
}
export type TestHold = { inventoryId: number; holdId: string; customerId: string; token: string }
export type HoldWish = { customerId?: string; pools?: { code: string; quantity: number }[]; pricesMinor?: number[] }
export type TestSale = Awaited<ReturnType<typeof testSale>>

export async function testSale(t: TestContext, options: SaleOptions = {}) {
  const served = await testApp(t, options.env)
  const { app, db, parts } = served
  const { sql } = db
  await app.listen({ port: 0, host: '127.0.0.1' })
  const server = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const webhookSecrets = [await loadSecret(sql, 'sandbox-webhook', () => Buffer.from(randomUUID()))]
  const { ticketKey } = parts
  const inventoryId = await openInventory(sql, options)
  const saleParts = { sql, gate: parts.gate, config: parts.config, wake: () => {}, providers: parts.providers }

  const sale = {
    ...served,
    parts: saleParts,
    sql,
    server,
    webhookSecrets,
    ticketKey,
    inventoryId,
    secrets: parts.secrets,
    store: postgresStore(sql),
    /** The same sale with something between us and the sandbox. */
    withProvider(change: (sandbox: Provider) => Partial<Provider>) {
      const [sandbox] = saleParts.providers
      const providers: Providers = [{ ...sandbox, ...change(sandbox) }]
      return { ...saleParts, providers }
    },
    hold: (seats: string[], wish: HoldWish = {}) => placeHold(sale, seats, wish),
    checkOut: (hold: TestHold): Promise<Checkout> => startCheckout(saleParts, { ...hold, contact: {} }),
    /** The buyer's button on the payment page. */
    async pay(checkout: Checkout, order?: PayOrder) {
      return (await post(`${pathOf(checkout)}/pay`, order)).statusCode
    },
    async decline(checkout: Checkout) {
      return (await post(`${pathOf(checkout)}/decline`)).statusCode
    },
    deliver: () => deliverMessages({ sql, webhookSecrets, callbackUrl: `${server}/v1/payments/sandbox/callback` }),
    settle: () => settleDueDebts(saleParts),
    relay: () => relayEvents(sql, [inProcessSink(allConsumers(sql, parts))]),
    expire: () => expirePendingBookings(sql),
    /** Every worker, until none finds anything to do. */
    async work() {
      for (let done = 1; done > 0; ) {
        done = (await sale.deliver()) + (await sale.settle()) + (await sale.expire()) + (await sale.relay())
      }
    },
    /** A buyer from the hold to the ticket. */
    async buy(seats: string[], wish: HoldWish = {}) {
      const hold = await sale.hold(seats, wish)
      const checkout = await sale.checkOut(hold)
      await sale.pay(checkout)
      await sale.work()
      return { hold, checkout, bookingId: parseSharded('book', checkout.bookingId).uuid }
    },
    /** A message as the sandbox would send it about this payment, with whatever is to be wrong about it. */
    async message(
      event: Parameters<typeof sandboxMessage>[0],
      checkout: Checkout,
      wrong: Partial<SandboxMessage['data']> = {},
    ): Promise<SandboxMessage> {
      const id = pathOf(checkout).split('/').at(-1) ?? ''
      const { amount, currency } = checkout.amount
      const right = sandboxMessage(event, { id, merchantReference: checkout.paymentId, amountMinor: amount, currency })
      return { ...right, data: { ...right.data, ...wrong } }
    },
    /** Signs and sends it; answers the status. */
    async send(message: SandboxMessage | Buffer, eventId: string = randomUUID(), secrets = webhookSecrets) {
      const body = Buffer.isBuffer(message) ? message : Buffer.from(JSON.stringify(message))
      const [clock] = await sql<{ now: string }[]>`select holdfast_now() as now`
      const headers = { 'content-type': 'application/json', ...signWebhook(secrets, eventId, clock?.now ?? '', body) }
      const reply = await fetch(`${server}/v1/payments/callback`, {
        method: 'POST',
        body: new Uint8Array(body),
        headers,
      })
      await reply.body?.cancel()
      return reply.status
    },
    seat: async (code: string) => (await sale.store.read(inventoryId))?.seats.find((seat) => seat.code === code),
  }
  const post = (url: string, payload?: PayOrder) =>
    app.inject({
      method: 'POST',
      url,
      ...(payload === undefined ? {} : { payload: payload as Record<string, unknown> }),
    })
  return sale
}

function pathOf({ paymentUrl }: Checkout): string {
  return new URL(paymentUrl ?? 'http://nothing-to-pay.invalid').pathname
}

async function openInventory(sql: TestSale['sql'], options: SaleOptions): Promise<number> {
  const { seats = ['F5', 'F6', 'F7', 'F8'], pools = [], refundRules = CINEMA_RULES, startsInMinutes = 1_440 } = options
  const id = await postgresStore(sql).open({ seats, pools })
  await sql`
    insert into inventory_descriptions (inventory_id, trade, title, venue, area, starts_at, ends_at, time_zone, currency, refund_rules)
    select ${id}, 'cinema', 'Metropolis', 'Astor', 'Screen 1', t + ${startsInMinutes} * interval '1 min',
      t + ${startsInMinutes + 150} * interval '1 min', 'Europe/Berlin', ${CURRENCY}, ${sql.json(refundRules)}
    from holdfast_now() t`
  return id
}

async function placeHold(sale: TestSaleCore, seats: string[], wish: HoldWish): Promise<TestHold> {
  const { inventoryId, secrets, store } = sale
  const { customerId = `cust_${randomUUID()}`, pools = [], pricesMinor = [] } = wish
  const holdId = randomUUID()
  const token = holdTokenOf(secrets.holdToken, holdId)
  const quote = quoteOf(seats, pools, pricesMinor)
  const [outcome] = await store.place([
    {
      inventoryId,
      holdId,
      customerId,
      tokenHash: hashHoldToken(token),
      ttlMs: HOLD_MS,
      lifeMs: 3 * HOLD_MS,
      seats,
      ...(pools.length > 0 ? { pools } : {}),
      amountMinor: quote.totalMinor,
      currency: CURRENCY,
      quote,
    },
  ])
  if (outcome?.outcome !== 'HELD') throw new Error(`not held: ${JSON.stringify(outcome)}`)
  return { inventoryId, holdId, customerId, token }
}
type TestSaleCore = { inventoryId: number; secrets: { holdToken: Mac }; store: ReturnType<typeof postgresStore> }

function quoteOf(seats: string[], pools: { code: string; quantity: number }[], pricesMinor: number[]): Quote {
  const wanted = [
    ...seats.map((seat) => ({ seat, quantity: 1 })),
    ...pools.map(({ code, quantity }) => ({ pool: code, quantity })),
  ]
  const lines = wanted.map((line, index) => {
    const amountMinor = pricesMinor[index] ?? PRICE_MINOR * line.quantity
    return { ...line, category: 'CLASSIC', amountMinor, parts: [{ label: 'Classic', amountMinor }] }
  })
  return { currency: CURRENCY, totalMinor: lines.reduce((sum, line) => sum + line.amountMinor, 0), lines }
}
