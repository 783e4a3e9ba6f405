// Judges what the buyers saw: no seat sold twice, none held for two at a time, money taken for what was sold and for nothing else.
import type { BookingSeen, History, HoldSeen } from './history.ts'

export type HistoryFinding = {
  kind:
    | 'SOLD_TWICE'
    | 'HELD_WHILE_TAKEN'
    | 'SEATS_DIFFER'
    | 'PRICE_DIFFERS'
    | 'MONEY_DIFFERS'
    | 'DOUBLE_CLICK_HELD_TWICE'
    | 'NOT_ON_THE_MAP'
  sentence: string
}

/**
 * `bookedAtEnd`: the codes the map shows BOOKED after everything, null when it was not read.
 * Intervals are taken so that doubt acquits: a hold counts as alive only between the moments at which its buyer knew it was.
 */
export function checkHistory(history: History, bookedAtEnd: Set<string> | null): HistoryFinding[] {
  const { holds, bookings, doubleClicksHeldTwice } = history
  const bookingOf = new Map(bookings.map((booking) => [booking.bookingId, booking]))
  const holdOf = new Map(holds.map((hold) => [hold.holdId, hold]))
  return [
    ...soldTwice(bookings),
    ...heldWhileTaken(holds, bookingOf),
    ...bookings.flatMap((booking) => differsFromHold(booking, holdOf.get(booking.holdId))),
    ...bookings.flatMap(moneyDiffers),
    ...(bookedAtEnd ? missingOnMap(bookings, bookedAtEnd) : []),
    ...doubleClicksHeldTwice.map(({ buyer, holdIds }) => ({
      kind: 'DOUBLE_CLICK_HELD_TWICE' as const,
      sentence: `One double click of buyer ${buyer} made two holds: ${holdIds.join(', ')}.`,
    })),
  ]
}

/** Seats of which more than one confirmed booking was seen in the end. */
export function countSoldTwice(findings: HistoryFinding[]): number {
  return findings.filter(({ kind }) => kind === 'SOLD_TWICE').length
}

function soldTwice(bookings: BookingSeen[]): HistoryFinding[] {
  const owners = new Map<string, string[]>()
  for (const { status, seats, bookingId } of bookings)
    if (status === 'CONFIRMED') for (const seat of seats) owners.set(seat, [...(owners.get(seat) ?? []), bookingId])
  return [...owners]
    .filter(([, ids]) => ids.length > 1)
    .map(([seat, ids]) => ({
      kind: 'SOLD_TWICE',
      sentence: `Seat ${seat} is sold ${ids.length} times: ${ids.join(', ')}.`,
    }))
}

// Surely alive from the yes on until it could have ended: sold, for ever; else its promised time, or until its buyer began to give it up.
function heldWhileTaken(holds: HoldSeen[], bookingOf: Map<string, BookingSeen>): HistoryFinding[] {
  const perSeat = new Map<string, HoldSeen[]>()
  for (const hold of holds) for (const seat of hold.seats) perSeat.set(seat, [...(perSeat.get(seat) ?? []), hold])
  const findings: HistoryFinding[] = []
  for (const [seat, takers] of perSeat) {
    takers.sort((a, b) => a.gotMs - b.gotMs)
    for (const [at, first] of takers.entries()) {
      const until = surelyUntil(first, bookingOf)
      for (const second of takers.slice(at + 1)) {
        if (second.buyer === first.buyer || second.sentMs <= first.gotMs || second.gotMs >= until) continue
        findings.push({
          kind: 'HELD_WHILE_TAKEN',
          sentence: `Seat ${seat} was given to buyer ${second.buyer} (${second.holdId}) while buyer ${first.buyer} had it (${first.holdId}).`,
        })
      }
    }
  }
  return findings
}

function surelyUntil(hold: HoldSeen, bookingOf: Map<string, BookingSeen>): number {
  const ended = hold.endedMs ?? Number.POSITIVE_INFINITY
  const booking = hold.bookingId === null ? undefined : bookingOf.get(hold.bookingId)
  return booking?.status === 'CONFIRMED' ? ended : Math.min(ended, hold.aliveUntilMs)
}

function differsFromHold(booking: BookingSeen, hold: HoldSeen | undefined): HistoryFinding[] {
  if (booking.status !== 'CONFIRMED' || !hold) return []
  const findings: HistoryFinding[] = []
  const [held, sold] = [hold.seats.toSorted().join(', '), booking.seats.toSorted().join(', ')]
  if (held !== sold)
    findings.push({ kind: 'SEATS_DIFFER', sentence: `${booking.bookingId} sold ${sold}, but ${held} were held.` })
  if (hold.amountMinor !== booking.amountMinor)
    findings.push({
      kind: 'PRICE_DIFFERS',
      sentence: `${booking.bookingId} costs ${booking.amountMinor}, but was quoted ${hold.amountMinor} (minor units).`,
    })
  return findings
}

// What is still on its way is not wrong yet; the audit knows how long it may take. A cancellation may keep a part, by its rule.
function moneyDiffers({
  bookingId,
  status,
  amountMinor,
  capturedMinor,
  refundedMinor,
  settled,
  cancelled,
}: BookingSeen): HistoryFinding[] {
  const kept = capturedMinor - refundedMinor
  const right =
    status === 'CONFIRMED' ? kept === amountMinor : cancelled ? kept >= 0 && kept <= amountMinor : kept === 0
  if (!settled || right) return []
  return [
    {
      kind: 'MONEY_DIFFERS',
      sentence: `${bookingId} is ${status} and costs ${amountMinor}, but ${capturedMinor} were taken and ${refundedMinor} given back (minor units).`,
    },
  ]
}

function missingOnMap(bookings: BookingSeen[], booked: Set<string>): HistoryFinding[] {
  return bookings
    .filter(({ status }) => status === 'CONFIRMED')
    .flatMap(({ bookingId, seats }) =>
      seats
        .filter((seat) => !booked.has(seat))
        .map((seat) => ({
          kind: 'NOT_ON_THE_MAP' as const,
          sentence: `${bookingId} has seat ${seat}, which the map does not show as booked.`,
        })),
    )
}
