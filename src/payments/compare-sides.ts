// One payment seen from three sides: what the provider has, what we have, what its booking costs. Names each difference, and says what it is worth.
import type { ProviderPayment } from './providers/provider.ts'

/**
 * LOST_CALLBACK: paid, and we never heard. LOST_REPLY: our call was done and its answer lost; the debt finds out by its key. UNKNOWN_CHARGE: money of no
 * order of ours. UNKNOWN_REFUND: paid back at the provider, by nobody here. STUCK_REFUND, STUCK_SETTLEMENT: a debt that waits for a person. DISPUTE: the
 * buyer wants it back through their bank. AMOUNT: anything else in which the sums differ. BOOKINGS: our payments are not what their booking costs.
 */
export type DifferenceKind =
  | 'LOST_CALLBACK'
  | 'LOST_REPLY'
  | 'UNKNOWN_CHARGE'
  | 'MISSING_AT_PROVIDER'
  | 'UNKNOWN_REFUND'
  | 'STUCK_REFUND'
  | 'STUCK_SETTLEMENT'
  | 'DISPUTE'
  | 'AMOUNT'
  | 'BOOKINGS'

/** REPAIRED: worked like the message that was lost. DRIVEN: a debt is on its way and settles it. WORKLIST: a person decides. */
export type DifferenceAction = 'REPAIRED' | 'DRIVEN' | 'WORKLIST'

/** `amountMinor` is what this side has more than the next: the provider more than we, or we more than the bookings. Their sum explains every gap. */
export type Difference = { kind: DifferenceKind; action: DifferenceAction; amountMinor: number; currency: string }

/** What we have: the payment, what is owed about it, and what its booking keeps of it. */
export type OurSide = {
  inventoryId: number
  id: string
  bookingId: string
  provider: string
  providerPaymentId: string | null
  status: 'CREATED' | 'AUTHORISED' | 'CAPTURED' | 'REFUNDED' | 'FAILED' | 'EXPIRED' | 'VOIDED'
  amountMinor: number
  currency: string
  capturedMinor: number
  refundedMinor: number
  captureDueMinor: number
  refundDueMinor: number
  stuckKinds: string[]
  /** From the ledger of bookings alone: what it cost, less what its cancellations give back; 0 for a payment that pays for nothing. */
  bookingMinor: number
}

export type Sides = { provider: string; theirs: ProviderPayment | null; ours: OurSide | null }

export function compareSides({ theirs, ours }: Sides): Difference[] {
  const found: Difference[] = []
  const add = (kind: DifferenceKind, action: DifferenceAction, amountMinor: number, currency: string) =>
    found.push({ kind, action, amountMinor, currency })
  const theirNet = theirs ? theirs.capturedMinor - theirs.refundedMinor : 0
  const ourNet = ours ? ours.capturedMinor - ours.refundedMinor : 0
  if (!ours) {
    if (theirs && (theirNet !== 0 || theirs.status === 'AUTHORISED'))
      add('UNKNOWN_CHARGE', 'WORKLIST', theirNet, theirs.currency)
    return found
  }

  const { currency } = ours
  if (!theirs) {
    if (ourNet !== 0 || ours.status === 'AUTHORISED') add('MISSING_AT_PROVIDER', 'WORKLIST', -ourNet, currency)
  } else if (theirs.currency !== currency) {
    add('AMOUNT', 'WORKLIST', theirNet, theirs.currency)
    add('AMOUNT', 'WORKLIST', -ourNet, currency)
  } else {
    const named = nameGap(theirs, ours, theirNet - ourNet)
    if (named) add(...named, theirNet - ourNet, currency)
  }
  if (theirs && theirs.disputedMinor > 0) add('DISPUTE', 'WORKLIST', 0, currency)
  for (const kind of ours.stuckKinds)
    add(kind === 'REFUND' ? 'STUCK_REFUND' : 'STUCK_SETTLEMENT', 'WORKLIST', 0, currency)

  const gap = ourNet + ours.captureDueMinor - ours.refundDueMinor - ours.bookingMinor
  if (gap !== 0) add('BOOKINGS', 'WORKLIST', gap, currency)
  return found
}

function nameGap(theirs: ProviderPayment, ours: OurSide, gap: number): [DifferenceKind, DifferenceAction] | null {
  const unheard = ['CREATED', 'FAILED', 'EXPIRED'].includes(ours.status)
  const paid = theirs.status === 'AUTHORISED' || theirs.capturedMinor > theirs.refundedMinor
  if (unheard && paid)
    return theirs.amountMinor === ours.amountMinor ? ['LOST_CALLBACK', 'REPAIRED'] : ['AMOUNT', 'WORKLIST']
  if (gap === 0) return null
  if (ours.status === 'AUTHORISED' && theirs.status === 'CAPTURED' && gap === ours.amountMinor) {
    return ours.captureDueMinor > 0 ? ['LOST_REPLY', 'DRIVEN'] : ['LOST_CALLBACK', 'REPAIRED']
  }
  const refundedMore = theirs.capturedMinor === ours.capturedMinor && theirs.refundedMinor > ours.refundedMinor
  if (refundedMore) return -gap <= ours.refundDueMinor ? ['LOST_REPLY', 'DRIVEN'] : ['UNKNOWN_REFUND', 'WORKLIST']
  return ['AMOUNT', 'WORKLIST']
}
