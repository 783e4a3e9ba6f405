// The seat map as bytes, from the seat board: a picture is written once, compressed once, and most answers are 304 or a copy of it.
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { formatNumbered } from '#core/ids.ts'
import { type SeatBoard, type SeatLetter, STATUS_OF } from '#inventory/seat-board.ts'
import type { Looked, SeatBoards } from '#inventory/seat-boards.ts'
import type { Layout } from './layout.ts'
import type { Programme } from './programme.ts'
import { openSeatFrames, type SeatFrame } from './seat-frame.ts'

export type SeatMapView = 'full' | 'status'
export type Encoding = 'br' | 'gzip'

export type SeatMapAnswer = {
  etag: string
  /** No word in it is about this caller, so anybody's cache may keep it. */
  shared: boolean
  encoding: Encoding | null
  /** Seconds since the board was last right; above 0 only while the database is away. */
  ageS: number
  /** null when the client's tag still names this picture. */
  body: Buffer | null
}

export type SeatMapWish = {
  view: SeatMapView
  /** Whose seats are `mine`. */
  customerId: string | null
  /** The tags of If-None-Match. */
  known: readonly string[]
  encoding: Encoding | null
}

export type SeatMaps = {
  /** NOT_FOUND without such a showtime; DATABASE_UNAVAILABLE when the board is too old. Answers at once when everything is here and fresh. */
  read(inventoryId: number, wish: SeatMapWish): SeatMapAnswer | Promise<SeatMapAnswer>
}

type Picture = { tag: string; body: Buffer; encoded: Partial<Record<Encoding, Buffer | Promise<Buffer>>> }

const PICTURES_MAX = 400
const LATE_MS = 2_000
// Less is not worth a client's unpacking.
const COMPRESSED_MIN_BYTES = 1_024

const compress: Record<Encoding, (body: Buffer) => Promise<Buffer>> = {
  gzip: promisify(gzip),
  // Quality 5: half the time of gzip's default for a smaller map; 11 would take a hundred times as long.
  br: (body) => promisify(brotliCompress)(body, { params: { [zlib.BROTLI_PARAM_QUALITY]: 5 } }),
}

export function openSeatMaps({ programme, boards }: { programme: Programme; boards: SeatBoards }): SeatMaps {
  const frames = openSeatFrames(programme, boards.freshMs)
  const pictures = new LRUCache<string, Picture>({ max: PICTURES_MAX })

  function answer(frame: SeatFrame, looked: Looked, wish: SeatMapWish): SeatMapAnswer | Promise<SeatMapAnswer> {
    const { board, ageMs } = looked
    const ageS = ageMs < LATE_MS ? 0 : Math.round(ageMs / 1_000)
    const own = wish.customerId === null ? [] : board.seatsOf(wish.customerId)
    const tag = tagOf(frame, wish.view, board, own)
    if (own.length > 0) {
      const etag = `"${tag}"`
      const body = wish.known.includes(etag) ? null : write(frame, wish.view, board, own)
      return { etag, shared: false, encoding: null, ageS, body }
    }
    const small = wish.view === 'status' && frame.seats.length < COMPRESSED_MIN_BYTES
    const encoding = small ? null : wish.encoding
    // Other bytes, another strong tag.
    const etag = encoding === null ? `"${tag}"` : `"${tag}.${encoding}"`
    const rest = { etag, shared: true, encoding, ageS }
    if (wish.known.includes(etag)) return { ...rest, body: null }
    const picture = pictureOf(frame, wish.view, board, tag)
    const body = encoding === null ? picture.body : encode(picture, encoding)
    return body instanceof Promise ? body.then((bytes) => ({ ...rest, body: bytes })) : { ...rest, body }
  }

  function pictureOf(frame: SeatFrame, view: SeatMapView, board: SeatBoard, tag: string): Picture {
    const key = `${view}:${frame.inventoryId}`
    const kept = pictures.get(key)
    if (kept?.tag === tag) return kept
    const picture = { tag, body: write(frame, view, board, []), encoded: {} }
    pictures.set(key, picture)
    return picture
  }

  return {
    read(inventoryId, wish) {
      const frame = frames.glance(inventoryId)
      const looked = frame && boards.glance(inventoryId)
      if (looked) return answer(frame, looked, wish)
      // The frame first: what is no showtime gets no board.
      return frames
        .read(inventoryId)
        .then((read) => boards.look(inventoryId).then((found) => answer(read, found, wish)))
    },
  }
}

// Off the event loop, once; who comes meanwhile waits for the same bytes.
function encode(picture: Picture, encoding: Encoding): Buffer | Promise<Buffer> {
  const { encoded } = picture
  encoded[encoding] ??= compress[encoding](picture.body).then((bytes) => {
    encoded[encoding] = bytes
    return bytes
  })
  return encoded[encoding]
}

// The caller's own seats are part of the tag, so that a cache can never answer one person with another's map.
function tagOf(frame: SeatFrame, view: SeatMapView, { version, lapsed }: SeatBoard, own: string[]): string {
  const ownPart =
    own.length === 0 ? '' : `-${createHash('sha256').update(JSON.stringify(own)).digest('base64url').slice(0, 10)}`
  return `${view}-${frame.hash}-${version}-${lapsed}${ownPart}`
}

/** Boards and the database list letters by code; everybody else thinks in layout order. */
export function inLayoutOrder(layout: Layout, byCode: string): SeatLetter[] {
  if (byCode.length !== layout.seats.length) throw new Error('the inventory and its layout have different seats')
  return layout.byCode.map((order) => byCode[order] as SeatLetter)
}

function write(frame: SeatFrame, view: SeatMapView, board: SeatBoard, own: string[]): Buffer {
  const letters = inLayoutOrder(frame.layout, board.letters())
  return Buffer.from(view === 'full' ? fullMap(frame, board, letters, own) : statusMap(frame, board, letters, own))
}

function fullMap({ head, seats, layout }: SeatFrame, board: SeatBoard, letters: SeatLetter[], own: string[]): string {
  const mine = new Set(own)
  const list = seats.map((seat, place) => {
    const owned = mine.size > 0 && mine.has(layout.seats[place]?.code ?? '') ? ',"mine":true' : ''
    return `${seat}${STATUS_OF[letters[place] ?? 'X']}"${owned}}`
  })
  return `${head},"version":${board.version},"asOf":"${board.asOf}","seats":[${list.join()}]}`
}

function statusMap({ inventoryId }: SeatFrame, board: SeatBoard, letters: SeatLetter[], own: string[]): string {
  return JSON.stringify({
    showtimeId: formatNumbered('show', inventoryId),
    version: board.version,
    asOf: board.asOf,
    statuses: letters.join(''),
    ...(own.length === 0 ? {} : { mine: own }),
  })
}
