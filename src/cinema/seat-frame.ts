// The part of a show's seat map that seats changing hands do not touch, written once: places, categories, prices.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { formatNumbered } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import { priceCategory } from '#pricing/quote-seats.ts'
import type { Layout } from './layout.ts'
import type { Programme } from './programme.ts'

/** Everything of a full map but the statuses, as JSON text with holes. */
export type SeatFrame = { inventoryId: number; hash: string; head: string; seats: string[]; layout: Layout }

export type SeatFrames = {
  /** The frame as it was a moment ago, if it is here. */
  glance(inventoryId: number): SeatFrame | null
  /** NOT_FOUND without such a showtime. While the database is away, the frame as it was last seen. */
  read(inventoryId: number): Promise<SeatFrame>
}

// A frame of 300 seats is 50 kB of text.
const FRAMES_MAX = 400

/** `freshMs`: how long a frame is good without asking the programme, which knows a new price at once in the process that set it. */
export function openSeatFrames(programme: Programme, freshMs: number): SeatFrames {
  const frames = new LRUCache<string, SeatFrame>({ max: FRAMES_MAX })
  const latest = new LRUCache<number, { frame: SeatFrame; checkedMs: number }>({ max: FRAMES_MAX })

  async function check(inventoryId: number): Promise<SeatFrame> {
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
    const frame = frameOf(inventoryId, layout, prices.currency, categories)
    frames.set(key, frame)
    return frame
  }

  return {
    glance(inventoryId) {
      const known = latest.get(inventoryId)
      return known && performance.now() - known.checkedMs < freshMs ? known.frame : null
    },
    async read(inventoryId) {
      try {
        const frame = await check(inventoryId)
        latest.set(inventoryId, { frame, checkedMs: performance.now() })
        return frame
      } catch (error) {
        const known = latest.get(inventoryId)
        if (!known || error instanceof Problem) throw error
        return known.frame
      }
    },
  }
}

type PricedCategory = { code: string; name: string; price: { amount: number; currency: string } }

function frameOf(inventoryId: number, layout: Layout, currency: string, categories: PricedCategory[]): SeatFrame {
  const priceOf = new Map(categories.map((category) => [category.code, category.price]))
  const seats = layout.seats.map(({ section, ...seat }) => {
    const shown = { ...seat, ...(section === '' ? {} : { section }), price: priceOf.get(seat.category) }
    return `${JSON.stringify(shown).slice(0, -1)},"status":"`
  })
  const head = JSON.stringify({
    showtimeId: formatNumbered('show', inventoryId),
    currency,
    layoutVersion: layout.version,
    width: layout.width,
    height: layout.height,
    categories,
  }).slice(0, -1)
  const hash = createHash('sha256').update(head).update(seats.join()).digest('base64url').slice(0, 10)
  return { inventoryId, hash, head, seats, layout }
}
