// The cinema's part of a hold: which seats, under which house rules, at which price. The rest is the same for every trade.
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { type PlacedHold, type PlaceHoldParts, placeHold } from '#holds/place-hold.ts'
import { refuseTaken } from '#holds/refuse-taken.ts'
import type { SeatBoards } from '#inventory/seat-boards.ts'
import { type PriceList, ticketTypesOf } from '#pricing/price-list.ts'
import { ADULT, type Channel } from '#pricing/priced-showing.ts'
import { quoteSeats } from '#pricing/quote-seats.ts'
import { bestAvailable, largestBlock, type PartyWish } from './best-available.ts'
import type { SeatChoice } from './check-choice.ts'
import type { Layout } from './layout.ts'
import type { Programme } from './programme.ts'
import { readSeatLetters } from './read-seat-letters.ts'
import { inLayoutOrder } from './seat-map.ts'
import type { Showtime } from './showtime.ts'
import { type FreeSeats, refuseSingles } from './single-seats.ts'

export type HoldSeatsParts = PlaceHoldParts & {
  sql: Sql
  programme: Programme
  boards: Pick<SeatBoards, 'surelyTaken'>
}

export type SeatOrder = {
  showtime: Showtime
  layout: Layout
  choice: SeatChoice
  customerId: string
  /** Where it is bought: a price may depend on it. */
  channel: Channel
  /** Who is admitted by each seat, in their order; missing ones are adults. */
  ticketTypes: string[]
  /** Seats this customer may have here in all; null for staff, who also may leave single seats. */
  unitsMax: number | null
  /** Seats that are not chosen for this customer, because they or their address keep giving them up. */
  avoid: { has(seat: string): boolean }
}

// Everybody who asks for the best seats asks for the same ones. A loser looks again, and each time further down the list.
const BEST_AVAILABLE_TRIES = 4

/** Whatever placeHold throws, and LEAVES_SINGLE_SEAT {seats, suggestion} or NOT_ENOUGH_SEATS {free, sideBySide}. */
export async function holdSeats(parts: HoldSeatsParts, order: SeatOrder): Promise<PlacedHold> {
  const { choice } = order
  if ('bestAvailable' in choice) return holdBestAvailable(parts, order, choice.bestAvailable)
  if (order.showtime.singleSeatsRefused && order.unitsMax !== null) await refuseSingleSeats(parts, order, choice.seats)
  return holdThese(parts, order, choice.seats)
}

async function holdThese(parts: HoldSeatsParts, order: SeatOrder, codes: string[]): Promise<PlacedHold> {
  const { showtime, layout, customerId, unitsMax, channel, ticketTypes } = order
  const prices = await parts.programme.priceList(showtime.priceListId)
  checkTicketTypes(prices, ticketTypes, codes.length)
  refuseTaken(parts, { inventoryId: showtime.inventoryId, customerId, seats: codes })
  const seats = codes.map((code, index) => ({
    code,
    category: layout.seats[layout.placeOf.get(code) ?? -1]?.category ?? '',
    ticketType: ticketTypes[index] ?? ADULT,
  }))
  const quote = quoteSeats(prices, await parts.programme.showing(showtime, prices, channel), seats)
  return placeHold(parts, { inventoryId: showtime.inventoryId, customerId, seats: codes, quote, unitsMax })
}

function checkTicketTypes(prices: PriceList, asked: string[], seats: number): void {
  if (asked.length === 0) return
  const known = ticketTypesOf(prices)
  const errors = asked.flatMap((name, index) => {
    if (index >= seats) return { path: `/ticketTypes/${index}`, message: 'there is no seat for it' }
    return known.includes(name) ? [] : { path: `/ticketTypes/${index}`, message: `is none of: ${known.join(', ')}` }
  })
  if (errors.length > 0) throw new Problem('INVALID_REQUEST', { errors })
}

async function holdBestAvailable(parts: HoldSeatsParts, order: SeatOrder, wish: PartyWish): Promise<PlacedHold> {
  const { layout } = order
  for (let attempt = 1; ; attempt++) {
    const free = await freeSeats(parts, order, order.avoid)
    const places = bestAvailable(layout, free, wish, rankFor(order.customerId, attempt))
    if (places === null) throw notEnough(layout, free, wish)
    try {
      return await holdThese(
        parts,
        order,
        places.map((place) => layout.seats[place]?.code ?? ''),
      )
    } catch (error) {
      const lost = error instanceof Problem && error.code === 'SEATS_UNAVAILABLE'
      if (!lost || attempt === BEST_AVAILABLE_TRIES) throw error
    }
  }
}

// The first try is the best there is. After a lost race a buyer's own number spreads the losers over more and more blocks.
function rankFor(customerId: string, attempt: number): number {
  if (attempt === 1) return 0
  const number = [...customerId].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003, 7)
  return number % 4 ** attempt
}

function notEnough(layout: Layout, free: FreeSeats, { quantity, category }: PartyWish): Problem {
  const left = layout.seats.filter(
    (seat, place) => free[place] && (category === undefined || seat.category === category),
  ).length
  const sideBySide = largestBlock(layout, free, category)
  const detail =
    left < quantity
      ? `Only ${left} of these seats are left.`
      : `Of ${left} free seats at most ${sideBySide} are side by side.`
  return new Problem('NOT_ENOUGH_SEATS', { quantity, free: left, sideBySide, detail })
}

async function refuseSingleSeats(parts: HoldSeatsParts, order: SeatOrder, codes: string[]): Promise<void> {
  const { layout } = order
  const free = await freeSeats(parts, order)
  const chosen = codes.map((code) => layout.placeOf.get(code) ?? -1)
  // Seats that are gone are the engine's to refuse, with their reasons.
  if (!chosen.every((place) => free[place])) return
  const refusal = refuseSingles(layout, free, chosen)
  if (refusal === null) return
  const named = (places: number[]) => places.toSorted((a, b) => a - b).map((place) => layout.seats[place]?.code ?? '')
  const suggestion = named(refusal.instead)
  const alone = named(refusal.alone)
  throw new Problem('LEAVES_SINGLE_SEAT', {
    seats: alone.map((code) => ({ code, reason: 'left_alone' })),
    suggestion,
    detail: `This choice would leave ${alone.join(', ')} alone; take ${suggestion.join(', ')} instead.`,
  })
}

// A hold replaces the customer's own one that is not being paid yet, so its seats count as free for them.
async function freeSeats(
  parts: HoldSeatsParts,
  { showtime, layout, customerId }: SeatOrder,
  avoid: SeatOrder['avoid'] = new Set(),
): Promise<FreeSeats> {
  const { letters, replaceableSeats } = await readSeatLetters(parts.sql, showtime.inventoryId, customerId)
  const own = new Set(replaceableSeats)
  return inLayoutOrder(layout, letters).map((letter, place) => {
    const code = layout.seats[place]?.code ?? ''
    return own.has(code) || (letter === 'A' && !avoid.has(code))
  })
}
