// The operator's hand on a waiting room: on, pre-queue, open, paused, closed, off; how many at once, how fast, what is said.
import { randomBytes } from 'node:crypto'
import { Problem } from '#core/problem.ts'
import type { Sql, Tx } from '#database/connect.ts'

export type RoomStatus = 'OFF' | 'PRE_QUEUE' | 'OPEN' | 'PAUSED' | 'CLOSED'

/** What is absent stays as it is; null takes it away. */
export type RoomChange = {
  status: RoomStatus
  activeMax?: number
  admitPerMinute?: number | null
  opensAt?: string | null
  message?: string | null
}

/** How many a room admits at once when nobody has said. */
export const ACTIVE_MAX_DEFAULT = 500

type Kept = { status: RoomStatus; opened: boolean }

/**
 * Answers whether a new round began: a new seed, everybody joins anew. That is so whenever a room that was off is switched on, and the seed is chosen
 * then, before anybody can have joined. Throws NOT_FOUND without such an inventory, WAITING_ROOM_OPENED for a pre-queue after the opening, and
 * WAITING_ROOM_NOT_OPENED where the draw has to be made first (open-room.ts).
 */
export async function changeRoom(sql: Sql, inventoryId: number, change: RoomChange): Promise<{ newRound: boolean }> {
  return sql.begin(async (tx) => {
    const [inventory] = await tx`select from inventories where id = ${inventoryId} for no key update`
    if (!inventory) throw new Problem('NOT_FOUND')
    const [kept] = await tx<Kept[]>`
      select status, opened_at is not null as opened from waiting_rooms where inventory_id = ${inventoryId}`
    const newRound = change.status !== 'OFF' && (kept === undefined || kept.status === 'OFF')
    if (newRound) await beginRound(tx, inventoryId, change.status)
    else if (kept === undefined) return { newRound }
    else refuseWrongOrder(kept, change.status)
    await tx`
      update waiting_rooms set
        status = ${change.status}, automatic = false, changed_at = holdfast_now(),
        active_max = coalesce(${change.activeMax ?? null}, active_max),
        admit_per_minute = case when ${change.admitPerMinute !== undefined} then ${change.admitPerMinute ?? null}::int else admit_per_minute end,
        opens_at = case when ${change.opensAt !== undefined} then ${change.opensAt ?? null}::timestamptz else opens_at end,
        message = case when ${change.message !== undefined} then ${change.message ?? null}::text else message end
      where inventory_id = ${inventoryId}`
    return { newRound }
  })
}

async function beginRound(tx: Tx, inventoryId: number, status: RoomStatus): Promise<void> {
  await tx`
    insert into waiting_rooms (inventory_id, status, round, active_max, seed, began_at, opened_at, changed_at)
    values (${inventoryId}, ${status}, 1, ${ACTIVE_MAX_DEFAULT}, ${randomBytes(32)}, holdfast_now(),
      case when ${status} = 'PRE_QUEUE' then null else holdfast_now() end, holdfast_now())
    on conflict (inventory_id) do update set
      round = waiting_rooms.round + 1, seed = excluded.seed, began_at = excluded.began_at, opened_at = excluded.opened_at, drawn = null`
}

function refuseWrongOrder({ status, opened }: Kept, wanted: RoomStatus): void {
  if (wanted === 'PRE_QUEUE' && opened) throw new Problem('WAITING_ROOM_OPENED')
  if ((wanted === 'OPEN' || wanted === 'PAUSED') && !opened) throw new Problem('WAITING_ROOM_NOT_OPENED', { status })
}
