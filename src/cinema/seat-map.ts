// The seat map as bytes: its unchanging part is written once for a showtime, a picture once for a version, and most answers are 304 or a copy.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { formatNumbered } from '#core/ids.ts'
import type { Sql } from '#database/connect.ts'
import { priceCategory } from '#pricing/quote-seats.ts'
import type { Layout } from './layout.ts'
import type { Programme } from './programme.ts'
import { readSeatLetters, readSeatMoment, type SeatLetter, type SeatMoment, STATUS_OF } from './read-seat-letters.ts'

export type SeatMapView = 'full' | 'status'

/** `body` is null when the client's tag still names this picture. `shared`: no word in it is about this caller, so anybody's cache may keep it. */
export type SeatMapAnswer = { etag: string; shared: boolean; body: string | null }

/** Everything of a full map but the statuses, as JSON text with holes. */
type Frame = { hash: string; head: string; seats: string[]; layout: Layout }

// A frame of 300 seats is 50 kB of text.
const FRAMES_MAX = 400
const PICTURES_MAX = 400

export type SeatMaps = {
  /** `known`: the tags of If-None-Match. NOT_FOUND without such a showtime. */
  read(
    inventoryId: number,
    view: SeatMapView,
    customerId: string | null,
    known: readonly string[],
  ): Promise<SeatMapAnswer>
}

export function openSeatMaps(parts: { sql: Sql; programme: Programme }): SeatMaps {
  const frames = new LRUCache<string, Frame>({ max: FRAMES_MAX })
  const pictures = new LRUCache<string, { etag: string; body: string }>({ max: PICTURES_MAX })

  return {
    async read(inventoryId, view, customerId, known) {
      const frame = await frameOf(parts.programme, inventoryId, frames)
      const now = await readSeatMoment(parts.sql, inventoryId, customerId)
      const etag = tagOf(frame, view, now)
      const shared = now.ownSeats.length === 0
      if (known.includes(etag)) return { etag, shared, body: null }
      const kept = shared ? pictures.get(`${view}:${inventoryId}`) : undefined
      if (kept?.etag === etag) return { etag, shared, body: kept.body }

      // Read anew as a whole: the picture may have moved on since the tag was read.
      const picture = await readSeatLetters(parts.sql, inventoryId, customerId)
      const letters = inLayoutOrder(frame.layout, picture.letters)
      const body = view === 'full' ? fullMap(frame, picture, letters) : statusMap(inventoryId, picture, letters)
      const answer = { etag: tagOf(frame, view, picture), shared: picture.ownSeats.length === 0, body }
      if (answer.shared) pictures.set(`${view}:${inventoryId}`, answer)
      return answer
    },
  }
}

async function frameOf(programme: Programme, inventoryId: number, frames: LRUCache<string, Frame>): Promise<Frame> {
  const showtime = await programme.showtime(inventoryId)
  const prices = await programme.priceList(showtime.priceListId)
  const showing = await programme.showing(showtime, prices)
  // A price may change at the venue's midnight.
  const key = `${inventoryId}:${prices.id}:${prices.revision}:${showing.daysBefore}`
  const kept = frames.get(key)
  if (kept) return kept

  const layout = await programme.layout(showtime.screenId, showtime.layoutVersion)
  const categories = layout.categories.map((code) => {
    const amount = priceCategory(prices, showing, code).amountMinor
    const name = prices.categoryNames[code] ?? code
    return { code, name, price: { amount, currency: prices.currency } }
  })
  const priceOf = new Map(categories.map((category) => [category.code, category.price]))
  const seats = layout.seats.map(({ section, ...seat }) => {
    const shown = { ...seat, ...(section === '' ? {} : { section }), price: priceOf.get(seat.category) }
    return `${JSON.stringify(shown).slice(0, -1)},"status":"`
  })
  const head = JSON.stringify({
    showtimeId: formatNumbered('show', inventoryId),
    currency: prices.currency,
    layoutVersion: layout.version,
    width: layout.width,
    height: layout.height,
    categories,
  }).slice(0, -1)
  const hash = createHash('sha256').update(head).update(seats.join()).digest('base64url').slice(0, 10)
  const frame = { hash, head, seats, layout }
  frames.set(key, frame)
  return frame
}

// The caller's own seats are part of the tag, so that a cache can never answer one person with another's map.
function tagOf(frame: Frame, view: SeatMapView, { version, lapsed, ownSeats }: SeatMoment): string {
  const own =
    ownSeats.length === 0
      ? ''
      : `-${createHash('sha256').update(JSON.stringify(ownSeats)).digest('base64url').slice(0, 10)}`
  return `"${view}-${frame.hash}-${version}-${lapsed}${own}"`
}

/** The database lists letters by code; everybody else thinks in layout order. */
export function inLayoutOrder(layout: Layout, byCode: string): SeatLetter[] {
  if (byCode.length !== layout.seats.length) throw new Error('the inventory and its layout have different seats')
  return layout.byCode.map((order) => byCode[order] as SeatLetter)
}

function fullMap(
  { head, seats, layout }: Frame,
  { version, asOf, ownSeats }: SeatMoment,
  letters: SeatLetter[],
): string {
  const own = new Set(ownSeats)
  const list = seats.map((seat, place) => {
    const mine = own.size > 0 && own.has(layout.seats[place]?.code ?? '') ? ',"mine":true' : ''
    return `${seat}${STATUS_OF[letters[place] ?? 'X']}"${mine}}`
  })
  return `${head},"version":${version},"asOf":"${asOf}","seats":[${list.join()}]}`
}

function statusMap(inventoryId: number, { version, asOf, ownSeats }: SeatMoment, letters: SeatLetter[]): string {
  const mine = ownSeats.length === 0 ? {} : { mine: ownSeats }
  return JSON.stringify({
    showtimeId: formatNumbered('show', inventoryId),
    version,
    asOf,
    statuses: letters.join(''),
    ...mine,
  })
}
