// Invariant 6: what happened to a booking was written down to be told, in order, and is told in time.
import { type AuditCheck, ROWS_MAX } from '#inventory/audit/audit-check.ts'
import { RETENTION_MIN_DAYS } from '#outbox/prune-outbox.ts'

// Published rows go after some days, the oldest first as far as a booking is concerned: what is left is the end of its row of numbers.
export const numberedEvents: AuditCheck = {
  invariant: '6 numbered events',
  sentence: 'The events of a booking are numbered without a gap up to its last one.',
  find: (tx) => tx`
    select b.inventory_id, b.id as booking_id, b.event_seq, o.events, o.first, o.last
    from (select holdfast_now() as t offset 0) n
    cross join bookings b
    cross join lateral (select count(*)::int as events, min(seq) as first, max(seq) as last from outbox o
      where o.inventory_id = b.inventory_id and o.booking_id = b.id) o
    where o.events > 0 and (o.last <> b.event_seq or o.events <> o.last - o.first + 1)
      or coalesce(o.first, 0) <> 1 and b.created_at > n.t - ${RETENTION_MIN_DAYS} * interval '1 day'
    order by b.inventory_id, b.id limit ${ROWS_MAX}`,
}

export const toldMoves: AuditCheck = {
  invariant: '6 told moves',
  sentence: 'Every move of a booking has its event, and every such event its move.',
  find: (tx) => tx`
    with moves as (
      select inventory_id, id as booking_id, 'BookingPending' as name, created_at as at from bookings
      union all select inventory_id, id, 'BookingConfirmed', confirmed_at from bookings where confirmed_at is not null
      union all select inventory_id, id, 'Booking' || initcap(status), ended_at from bookings
        where status in ('CANCELLED', 'FAILED', 'EXPIRED')
      -- Told EXPIRED before late money took all its seats again.
      union all select inventory_id, id, 'BookingExpired', rescued_at from bookings where rescued_at is not null),
    told as (
      select inventory_id, booking_id, name, count(*)::int as times from outbox
      where name in ('BookingPending', 'BookingConfirmed', 'BookingCancelled', 'BookingFailed', 'BookingExpired') group by 1, 2, 3)
    select inventory_id, booking_id, name, m.at as moved_at, coalesce(o.times, 0) as times_told
    from (select holdfast_now() as t offset 0) n
    cross join (moves m full join told o using (inventory_id, booking_id, name))
    where m.name is null or o.times > 1
      or o.name is null and (m.at is null or m.at > n.t - ${RETENTION_MIN_DAYS} * interval '1 day')
    order by inventory_id, booking_id, name limit ${ROWS_MAX}`,
}

export function toldInTime(withinMs: number): AuditCheck {
  return {
    invariant: '6 told in time',
    sentence: 'Nothing in the outbox older than its bound is unsent, and nothing is parked.',
    find: (tx) => tx`
      select o.inventory_id, o.booking_id, o.seq, o.name, o.created_at, d.sink, d.attempts, d.parked_at, d.last_error
      from (select holdfast_now() as t offset 0) n cross join outbox o
        left join outbox_deliveries d on d.inventory_id = o.inventory_id and d.event_id = o.id
      where o.published_at is null and (d.parked_at is not null or o.created_at < n.t - ${withinMs} * interval '1 ms')
      order by o.created_at limit ${ROWS_MAX}`,
  }
}

export const queuedEvents: AuditCheck = {
  invariant: '6 queued events',
  sentence: 'A fact counts as told exactly when no sink has still to be told.',
  find: (tx) => tx`
    select o.inventory_id, o.booking_id, o.seq, o.name, o.unsent, q.queued, o.published_at
    from outbox o cross join lateral (select count(*)::int as queued from outbox_deliveries d
      where d.inventory_id = o.inventory_id and d.event_id = o.id) q
    where (o.published_at is null or o.unsent > 0 or q.queued > 0)
      and (q.queued <> o.unsent or (o.published_at is null) <> (o.unsent > 0))
    order by o.created_at limit ${ROWS_MAX}`,
}
