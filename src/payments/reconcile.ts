// Compares three sides over a span of time: the provider's list, our payments, the ledger of bookings. Every difference has a name and an end.
import { lockSale } from '#bookings/lock-sale.ts'
import { formatSharded, parseSharded, type ShardedId } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Sql, Tx } from '#database/connect.ts'
import { compareSides, type Difference, type OurSide, type Sides } from './compare-sides.ts'
import { type LookUpParts, workFound } from './look-up-payments.ts'
import { findPayment } from './payment.ts'
import type { Provider } from './providers/provider.ts'
import { putOnWorklist, type WorklistKind } from './worklist.ts'

export type FoundDifference = Difference & { sides: Sides }
/** Of one currency. `restMinor` is what no difference and no debt explains: 0, or the comparison itself is wrong. */
export type CurrencyTotals = {
  currency: string
  payments: number
  providerMinor: number
  paymentsMinor: number
  bookingsMinor: number
  /** Taken and owed back, less what is reserved and due to be taken. */
  owedMinor: number
  differencesMinor: number
  restMinor: number
}
export type Reconciled = { differences: FoundDifference[]; totals: CurrencyTotals[] }

/** `since` until before `until`, RFC 3339, by when a payment was opened. Throws when a provider's list cannot be had: then nothing is said at all. */
export async function reconcile(parts: LookUpParts, since: string, until: string): Promise<Reconciled> {
  const all: Sides[] = []
  for (const provider of parts.providers) {
    if (!provider.takenAtCounter) all.push(...(await pairUp(parts.sql, provider, since, until)))
  }
  const differences: FoundDifference[] = []
  for (const [at, first] of all.entries()) {
    if (compareSides(first).length === 0) continue
    // The two lists were read at different moments: what differs is looked at again, side by side.
    const sides = await lookAgain(parts, first)
    all[at] = sides
    differences.push(...compareSides(sides).map((difference) => ({ ...difference, sides })))
  }
  for (const difference of differences) await act(parts, difference)
  return { differences, totals: sumUp(all, differences) }
}

async function pairUp(sql: Sql, provider: Provider, since: string, until: string): Promise<Sides[]> {
  const ours = await readOurs(sql, provider.name, { since, until })
  const left = new Map(ours.map((side) => [formatSharded('pay', side.inventoryId, side.id), side]))
  const pairs: Sides[] = []
  for await (const theirs of provider.list(since, until)) {
    const known = theirs.paymentId === null ? null : (left.get(theirs.paymentId) ?? null)
    if (theirs.paymentId !== null) left.delete(theirs.paymentId)
    pairs.push({
      provider: provider.name,
      theirs,
      ours: known ?? (await readOne(sql, provider.name, theirs.paymentId)),
    })
  }
  for (const side of left.values()) pairs.push({ provider: provider.name, theirs: null, ours: side })
  return pairs
}

async function lookAgain({ sql, providers }: LookUpParts, { provider: name, theirs, ours }: Sides): Promise<Sides> {
  const provider = providers.find((one) => one.name === name)
  const paymentId = ours ? formatSharded('pay', ours.inventoryId, ours.id) : (theirs?.paymentId ?? '')
  const providerPaymentId = theirs?.providerPaymentId ?? ours?.providerPaymentId ?? null
  const again = (await provider?.lookUp({ providerPaymentId, paymentId })) ?? null
  return { provider: name, theirs: again, ours: ours && (await readOne(sql, name, paymentId)) }
}

async function readOne(sql: Sql, provider: string, paymentId: string | null): Promise<OurSide | null> {
  const id = paymentId === null ? null : ownId(paymentId)
  if (!id) return null
  const [side] = await readOurs(sql, provider, { id })
  return side ?? null
}

function ownId(paymentId: string): ShardedId | null {
  try {
    return parseSharded('pay', paymentId)
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}

// One of the two: a span of time, or one payment.
async function readOurs(
  sql: Sql,
  provider: string,
  { since, until, id }: { since?: string; until?: string; id?: ShardedId },
): Promise<OurSide[]> {
  return sql<OurSide[]>`
    select p.inventory_id, p.id, p.booking_id, p.provider, p.provider_payment_id, p.status, p.amount_minor, p.currency, p.captured_minor,
      p.refunded_minor, d.capture_due_minor, d.refund_due_minor, d.stuck_kinds,
      case when p.pays then b.amount_minor - d.given_back_minor else 0 end as booking_minor
    from payments p join bookings b on b.inventory_id = p.inventory_id and b.id = p.booking_id
    cross join lateral (
      select coalesce(sum(s.amount_minor) filter (where s.kind = 'CAPTURE' and s.status in ('DUE', 'STUCK')), 0)::bigint as capture_due_minor,
        coalesce(sum(s.amount_minor) filter (where s.kind = 'REFUND' and s.status in ('DUE', 'STUCK')), 0)::bigint as refund_due_minor,
        coalesce(sum(s.amount_minor) filter (where s.reason = 'CANCELLED' and s.status <> 'DROPPED'), 0)::bigint as given_back_minor,
        coalesce(array_agg(s.kind) filter (where s.status = 'STUCK'), '{}') as stuck_kinds
      from settlements s where s.inventory_id = p.inventory_id and s.payment_id = p.id) d
    where p.provider = ${provider} and case when ${id?.uuid ?? null}::uuid is null
      then p.created_at >= ${since ?? null}::timestamptz and p.created_at < ${until ?? null}::timestamptz
      else p.inventory_id = ${id?.inventoryId ?? null}::bigint and p.id = ${id?.uuid ?? null}::uuid end`
}

async function act(
  { sql, config, wake }: LookUpParts,
  { kind, action, sides, ...about }: FoundDifference,
): Promise<void> {
  const { provider, theirs, ours } = sides
  if (action === 'REPAIRED' && ours && theirs) {
    await sql.begin(async (tx) => {
      await lockSale(tx, ours.inventoryId)
      const payment = await findPayment(tx, ours.inventoryId, ours.id)
      if (payment) await workFound(tx, payment, theirs, config)
    })
    for (const worker of ['settle', 'relay']) wake(worker)
  }
  // A stuck debt has its own entry already, which knows how it may be tried again.
  if (action !== 'WORKLIST' || kind.startsWith('STUCK_')) return
  const providerPaymentId = theirs?.providerPaymentId ?? ours?.providerPaymentId ?? null
  const paymentId = ours ? formatSharded('pay', ours.inventoryId, ours.id) : (theirs?.paymentId ?? null)
  await putOnWorklist(sql as Tx, {
    inventoryId: ours?.inventoryId ?? null,
    kind: kind as WorklistKind,
    facts: { provider, providerPaymentId, paymentId, status: theirs?.status ?? null, ...about },
    finding: `${kind} ${provider} ${providerPaymentId ?? paymentId}`,
  })
}

function sumUp(all: Sides[], differences: Difference[]): CurrencyTotals[] {
  const totals = new Map<string, CurrencyTotals>()
  const of = (currency: string): CurrencyTotals => {
    const zero = {
      providerMinor: 0,
      paymentsMinor: 0,
      bookingsMinor: 0,
      owedMinor: 0,
      differencesMinor: 0,
      restMinor: 0,
    }
    const total = totals.get(currency) ?? { currency, payments: 0, ...zero }
    totals.set(currency, total)
    return total
  }
  for (const { theirs, ours } of all) {
    if (theirs) of(theirs.currency).providerMinor += theirs.capturedMinor - theirs.refundedMinor
    if (!ours) continue
    const total = of(ours.currency)
    total.payments += 1
    total.paymentsMinor += ours.capturedMinor - ours.refundedMinor
    total.owedMinor += ours.refundDueMinor - ours.captureDueMinor
    total.bookingsMinor += ours.bookingMinor
  }
  for (const { currency, amountMinor } of differences) of(currency).differencesMinor += amountMinor
  for (const total of totals.values()) {
    total.restMinor = total.providerMinor - total.differencesMinor - total.owedMinor - total.bookingsMinor
  }
  return [...totals.values()].sort((a, b) => (a.currency < b.currency ? -1 : 1))
}
