// The rooms that are on, as the operator and the inventory have them: what every process looks at twice a second.
import type { Tx } from '#database/connect.ts'
import { hashSeed } from './draw.ts'
import type { Room } from './room-store.ts'

export type LiveRoom = Room & {
  opensAt: string | null
  message: string | null
  /** 64 hexadecimal digits; not to be told before the opening. */
  seed: string
  seedHash: string
  automatic: boolean
  /** The draw is made, or there was no pre-queue to draw from. */
  opened: boolean
  /** A pre-queue whose time has come. */
  due: boolean
}

type Row = Omit<LiveRoom, 'seedHash' | 'status'> & { status: Room['status']; over: boolean }

/** A show whose sale is over has a closed room, whatever the operator left it at. Seats under a hold may come back, so they are still to be sold. */
export async function readRooms(sql: Tx): Promise<Map<number, LiveRoom>> {
  const rows = await sql<Row[]>`
    select r.inventory_id, r.round, r.status, r.active_max, r.admit_per_minute, r.opens_at, r.message, r.automatic, r.opened_at is not null as opened,
      encode(r.seed, 'hex') as seed, r.status = 'PRE_QUEUE' and r.opens_at <= n.t as due,
      i.status = 'CLOSED' or n.t >= i.sale_closes_at as over,
      exists (select from seats s where s.inventory_id = r.inventory_id and s.status in ('AVAILABLE', 'HELD'))
        or exists (select from pools p where p.inventory_id = r.inventory_id and p.sold < p.capacity + p.overbook_limit) as selling
    from (select holdfast_now() as t offset 0) n
    cross join waiting_rooms r
    join inventories i on i.id = r.inventory_id
    where r.status <> 'OFF'`
  return new Map(
    rows.map(({ over, ...row }) => [
      row.inventoryId,
      { ...row, due: row.due === true, status: over ? 'CLOSED' : row.status, seedHash: hashSeed(row.seed) },
    ]),
  )
}
