// At the doors of hold and checkout: where a waiting room is on, only who was admitted comes in.
import type { FastifyRequest } from 'fastify'
import { formatNumbered } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import { isStaff } from '#identity/caller.ts'
import { type AdmissionUse, refuseUsedAdmission } from './claim-admission.ts'
import type { LiveRoom } from './read-rooms.ts'
import type { Admission } from './room-store.ts'
import { readAdmission, visitorOf } from './ticket.ts'
import type { WaitingRooms } from './waiting-rooms.ts'

export type Entrance = {
  inventoryId: number
  /** Whose admission it must be: who holds, or whose hold is paid. */
  customerId: string
  /** At the checkout: which hold, and how long the place is kept at least, for nobody hears of a buyer who is on a payment page. */
  paying?: { holdId: string; keepMs: number }
}

type Reason = 'NOT_OPEN' | 'NOT_ADMITTED' | 'NOT_YOURS' | 'OVER' | 'CLOSED'

const RETRY_AFTER_S = 5

/**
 * The admission sent in the header Holdfast-Admission, or without one what the store knows of this customer. Answers what `claimAdmission` needs, null where
 * none is needed (no room is on, staff, or seats that were held before it was). Throws ADMISSION_REQUIRED: none, not theirs, over, used up. While the store is away an admission proves itself
 * by its signature until the moment its place may be given away; without one WAITING_ROOM_UNAVAILABLE.
 */
export async function requireAdmission(
  rooms: WaitingRooms,
  request: Pick<FastifyRequest, 'caller' | 'headers'>,
  { inventoryId, customerId, paying }: Entrance,
): Promise<AdmissionUse | null> {
  const room = rooms.room(inventoryId)
  if (!paying) rooms.attempts.set(inventoryId, (rooms.attempts.get(inventoryId) ?? 0) + 1)
  if (!room || isStaff(request.caller)) return null
  if (paying && (await heldBefore(rooms, inventoryId, paying.holdId))) return null
  const { round } = room
  const visitor = visitorOf(rooms.mac, inventoryId, round, customerId)
  const header = request.headers['holdfast-admission']
  const sent = typeof header === 'string' ? readAdmission(rooms.mac, header) : null
  if (header !== undefined && (sent?.visitor !== visitor || sent.round !== round || sent.inventoryId !== inventoryId))
    throw refused(room, 'NOT_YOURS')
  const { admission, nowMs } = await admissionOf(rooms, room, visitor, sent, paying?.keepMs ?? 0)
  if (!admission) throw refused(room, sent ? 'OVER' : 'NOT_ADMITTED')
  if (sent && sent.no !== admission.no) throw refused(room, 'OVER')
  // A place kept for a payment is not a place to begin with.
  if (!paying && (nowMs === null ? rooms.isOver(admission.endMs) : nowMs >= admission.endMs))
    throw refused(room, 'OVER')
  const use = { inventoryId, round, visitor, no: admission.no }
  if (!paying) await refuseUsedAdmission(rooms.sql, use)
  return use
}

async function admissionOf(
  rooms: WaitingRooms,
  room: LiveRoom,
  visitor: string,
  sent: Admission | null,
  keepMs: number,
): Promise<{ admission: Admission | null; nowMs: number | null }> {
  const known = sent ?? rooms.lastTold(visitor)?.admission ?? null
  const place = await rooms.store.visit(room, visitor, { score: null, admission: known }, keepMs).catch(() => null)
  if (place) return { admission: place.status === 'ADMITTED' ? place.admission : null, nowMs: place.nowMs }
  if (!known) throw new Problem('WAITING_ROOM_UNAVAILABLE', { retryAfterSeconds: RETRY_AFTER_S })
  return { admission: rooms.isOver(known.untilMs) ? null : known, nowMs: null }
}

// A room that is switched on in the middle of a sale takes nobody's seats away.
async function heldBefore({ sql }: WaitingRooms, inventoryId: number, holdId: string): Promise<boolean> {
  const before = await sql`
    select from holds h join waiting_rooms r on r.inventory_id = h.inventory_id
    where h.inventory_id = ${inventoryId} and h.id = ${holdId} and h.created_at < r.began_at`
  return before.count > 0
}

const DETAIL: Record<Reason, string> = {
  NOT_OPEN: 'The sale has not been opened yet; join the waiting room and be there when it is.',
  NOT_ADMITTED: 'Join the waiting room of this show and wait to be admitted.',
  NOT_YOURS: 'This admission is not one for this session and this show; join the waiting room.',
  OVER: 'This admission is over; join the waiting room again.',
  CLOSED: 'The waiting room is closed.',
}

function refused({ inventoryId, status, opensAt }: LiveRoom, reason: Reason): Problem {
  const plain = reason === 'NOT_ADMITTED' && status === 'PRE_QUEUE' ? 'NOT_OPEN' : reason
  const why = reason === 'NOT_ADMITTED' && status === 'CLOSED' ? 'CLOSED' : plain
  return new Problem('ADMISSION_REQUIRED', {
    detail: DETAIL[why],
    reason: why,
    join: `/v1/showtimes/${formatNumbered('show', inventoryId)}/queue`,
    ...(why === 'NOT_OPEN' && opensAt !== null ? { opensAt } : {}),
  })
}
