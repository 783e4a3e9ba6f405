// The product's seat store: every write is one call of a SQL function (./sql) that locks the inventory, reads the clock, tidies, decides and writes.
// Made over a pool it runs each call as a transaction of its own; made over a transaction it takes part in that one.
import type { Tx } from '#database/connect.ts'
import type {
  Blocking,
  BlockingReason,
  BlockOutcome,
  CancelOutcome,
  ConfirmOutcome,
  ExtendOutcome,
  HoldState,
  HoldStatus,
  InventoryState,
  PlaceOutcome,
  PlaceRequest,
  PoolState,
  ReleaseOutcome,
  SeatState,
  SeatStore,
} from './seat-store.ts'
import { holdUnits } from './seat-store.ts'

type PlacedRow = {
  no: number
  outcome: PlaceOutcome['outcome']
  holdId: string | null
  expiresAt: string
  decidedAt: string | null
  blockingCodes: string[] | null
  blockingReasons: BlockingReason[] | null
  countedUnits: number
}

export function postgresStore(sql: Tx): SeatStore {
  return {
    async open({ seats, pools = [], saleOpensAt, saleClosesAt }) {
      const [row] = await sql<{ id: number }[]>`
        select open_inventory(${saleOpensAt ?? null}::timestamptz, ${saleClosesAt ?? null}::timestamptz, ${seats}::text[],
          ${sql.json(pools)}) as id`
      if (!row) throw new Error('open_inventory answered no row')
      return row.id
    },

    async place(requests, judgeOnly) {
      const rows = await placeHolds(sql, requests, judgeOnly)
      const outcomes: PlaceOutcome[] = new Array(requests.length)
      const decidedAt = rows.find((row) => row.decidedAt !== null)?.decidedAt ?? ''
      for (const row of rows) {
        const request = requests[row.no - 1]
        if (request) outcomes[row.no - 1] = placeOutcome(row, request, decidedAt)
      }
      return outcomes
    },

    async extend(inventoryId, holdId, addMs, extensionsMax) {
      const [row] = await sql<
        ExtendOutcome[]
      >`select * from extend_hold(${inventoryId}, ${holdId}, ${addMs}, ${extensionsMax}, false)`
      return row as ExtendOutcome
    },

    async checkOut(inventoryId, holdId, addMs) {
      const [row] = await sql<ExtendOutcome[]>`select * from extend_hold(${inventoryId}, ${holdId}, ${addMs}, 0, true)`
      return row as ExtendOutcome
    },

    async release(inventoryId, holdId) {
      const [row] = await sql<ReleaseOutcome[]>`select * from release_hold(${inventoryId}, ${holdId})`
      return row as ReleaseOutcome
    },

    async confirm(inventoryId, holdId, bookingId) {
      const [row] = await sql<ConfirmOutcome[]>`select * from confirm_hold(${inventoryId}, ${holdId}, ${bookingId})`
      return row as ConfirmOutcome
    },

    async cancel(inventoryId, bookingId, lines) {
      const [row] = await sql<CancelOutcome[]>`
        select * from cancel_booked(${inventoryId}, ${bookingId}, ${lines?.seats ?? null}::text[], ${lines ? sql.json(lines.pools) : null}::jsonb)`
      return row as CancelOutcome
    },

    async expire(inventoryId) {
      const [row] = await sql<{ count: number }[]>`select expire_inventory(${inventoryId}) as count`
      return row?.count ?? 0
    },

    async block(inventoryId, seats, by, reason) {
      const [row] = await sql<BlockRow[]>`select * from block_seats(${inventoryId}, ${seats}::text[], ${by}, ${reason})`
      return blockOutcome(row as BlockRow)
    },

    async unblock(inventoryId, seats) {
      const [row] = await sql<BlockRow[]>`select * from unblock_seats(${inventoryId}, ${seats}::text[])`
      return blockOutcome(row as BlockRow)
    },

    read: (inventoryId) => readInventory(sql, inventoryId),
    readHold: (inventoryId, holdId) => readHold(sql, inventoryId, holdId),
  }
}

// Arrays are written as PostgreSQL array literals here, because the driver's own encoding of fourteen arrays costs more than the whole batch.
function placeHolds(sql: Tx, requests: PlaceRequest[], judgeOnly?: ReadonlySet<number>): Promise<PlacedRow[]> {
  const bare = (of: (request: PlaceRequest, index: number) => number | string | null) =>
    `{${requests.map((request, index) => of(request, index) ?? 'NULL').join()}}`
  const texts = (of: (request: PlaceRequest) => string | null) => textArray(requests.map(of))
  return sql<PlacedRow[]>`
    select * from place_holds(
      ${`{${[...new Set(requests.map((r) => r.inventoryId))].join()}}`}::text::bigint[],
      ${bare((r) => r.inventoryId)}::text::bigint[], ${bare((r) => r.holdId)}::text::uuid[], ${texts((r) => r.customerId)}::text::text[],
      ${bare((r) => `\\\\x${r.tokenHash}`)}::text::bytea[], ${bare((r) => r.ttlMs)}::text::int[], ${bare((r) => r.lifeMs)}::text::int[],
      ${texts((r) => textArray(r.seats))}::text::text[], ${texts((r) => (r.pools?.length ? JSON.stringify(r.pools) : null))}::text::jsonb[],
      ${bare(holdUnits)}::text::int[], ${bare((r) => r.unitsMax ?? null)}::text::int[],
      ${bare((r) => r.amountMinor)}::text::bigint[], ${texts((r) => r.currency)}::text::text[],
      ${JSON.stringify(requests.map((r) => r.quote ?? null))}::text::json,
      ${bare((_, index) => String(!judgeOnly?.has(index)))}::text::boolean[])`
}

const NEEDS_ESCAPE = /["\\]/

// Labels are data and may hold quotes, commas and braces; every element is quoted, null is bare.
function textArray(values: (string | null)[]): string {
  return `{${values.map((value) => (value === null ? 'NULL' : `"${NEEDS_ESCAPE.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`)).join()}}`
}

function placeOutcome(row: PlacedRow, request: PlaceRequest, decidedAt: string): PlaceOutcome {
  const { outcome, expiresAt } = row
  switch (outcome) {
    case 'HELD': {
      const replaced = row.blockingCodes ? { replacedSeats: row.blockingCodes } : {}
      return { outcome, holdId: request.holdId, expiresAt, decidedAt, ...replaced }
    }
    case 'SAME':
      return { outcome, holdId: row.holdId ?? request.holdId, expiresAt, decidedAt }
    case 'UNAVAILABLE':
      return { outcome, blocking: blockingOf(row.blockingCodes, row.blockingReasons), decidedAt }
    case 'LIMIT':
      return { outcome, unitsMax: request.unitsMax ?? 0, countedUnits: row.countedUnits, decidedAt }
    default:
      return { outcome, decidedAt }
  }
}

type BlockRow = {
  outcome: BlockOutcome['outcome']
  blockingCodes: string[] | null
  blockingReasons: BlockingReason[] | null
}

function blockOutcome(row: BlockRow): BlockOutcome {
  return { outcome: row.outcome, blocking: blockingOf(row.blockingCodes, row.blockingReasons) }
}

function blockingOf(codes: string[] | null, reasons: BlockingReason[] | null): Blocking[] {
  const blocking = (codes ?? []).map((code, index): Blocking => ({ code, reason: reasons?.[index] ?? 'unknown' }))
  return blocking.sort((a, b) => (a.code < b.code ? -1 : 1))
}

async function readInventory(sql: Tx, inventoryId: number): Promise<InventoryState | null> {
  const [row] = await sql<{ version: number; asOf: string; seats: SeatState[] | null; pools: PoolState[] | null }[]>`
    select i.version, n.t as as_of,
      (select jsonb_agg(jsonb_build_object('code', s.seat_code,
          'status', case when lapsed then 'AVAILABLE' else s.status end,
          'holdId', case when not lapsed then s.hold_id end,
          'expiresAt', case when not lapsed then rfc3339(s.hold_expires_at) end, 'bookingId', s.booking_id) order by s.seat_code collate "C")
        from (select *, status = 'HELD' and hold_expires_at <= n.t as lapsed from seats where inventory_id = i.id) s) as seats,
      (select jsonb_agg(jsonb_build_object('code', p.pool_code, 'capacity', p.capacity, 'overbookLimit', p.overbook_limit, 'sold', p.sold,
          'held', p.held - coalesce((select sum(l.quantity) from holds h join hold_pools l on l.inventory_id = h.inventory_id and l.hold_id = h.id
            where h.inventory_id = i.id and h.status in ('HELD', 'CHECKED_OUT') and h.expires_at <= n.t and l.pool_code = p.pool_code), 0))
          order by p.pool_code collate "C")
        from pools p where p.inventory_id = i.id) as pools
    from (select holdfast_now() as t offset 0) n cross join inventories i where i.id = ${inventoryId}`
  return row
    ? { inventoryId, version: row.version, asOf: row.asOf, seats: row.seats ?? [], pools: row.pools ?? [] }
    : null
}

async function readHold(sql: Tx, inventoryId: number, holdId: string): Promise<HoldState | null> {
  const [row] = await sql<(HoldState & { status: HoldStatus })[]>`
    select h.id as hold_id, h.customer_id, encode(h.token_hash, 'hex') as token_hash,
      case when h.status in ('HELD', 'CHECKED_OUT') and h.expires_at <= n.t then 'EXPIRED' else h.status end as status,
      h.seat_codes as seats, h.amount_minor, h.currency, h.quote, h.expires_at, h.extensions, h.booking_id, n.t as as_of,
      coalesce((select jsonb_agg(jsonb_build_object('code', l.pool_code, 'quantity', l.quantity) order by l.pool_code)
        from hold_pools l where l.inventory_id = h.inventory_id and l.hold_id = h.id), '[]') as pools
    from (select holdfast_now() as t offset 0) n cross join holds h where h.inventory_id = ${inventoryId} and h.id = ${holdId}`
  return row ?? null
}
