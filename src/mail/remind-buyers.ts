// Writes the reminders of shows that begin soon, each booking's once. What is soon is asked of the show as it stands then, so a moved show moves them.
import { lockSale } from '#bookings/lock-sale.ts'
import type { Worker } from '#core/workers.ts'
import type { Sql, Tx } from '#database/connect.ts'

type Parts = { sql: Sql; config: { reminderBeforeMs: number }; wake: (worker: string) => void }

const INTERVAL_MS = 30_000
const SHOWS_AT_ONCE = 100

export function remindBuyers({ sql, config, wake }: Parts): Worker {
  return {
    name: 'remind',
    intervalMs: config.reminderBeforeMs > 0 ? INTERVAL_MS : 0,
    async run() {
      const reminders = await writeReminders(sql, config.reminderBeforeMs)
      if (reminders > 0) wake('mail')
      return reminders
    },
  }
}

/** A round for each show that has come within `beforeMs` of its beginning; any number of processes may do it at once. Answers how many were written. */
export async function writeReminders(sql: Sql, beforeMs: number): Promise<number> {
  const soon = await sql<{ inventoryId: number }[]>`
    select d.inventory_id from (select holdfast_now() as t offset 0) c, inventory_descriptions d
      left join reminder_rounds r on r.inventory_id = d.inventory_id
    where d.starts_at > c.t and d.starts_at <= c.t + ${beforeMs} * interval '1 ms' and r.starts_at is distinct from d.starts_at
    order by d.starts_at limit ${SHOWS_AT_ONCE}`
  let written = 0
  for (const { inventoryId } of soon) written += await sql.begin((tx) => remindShow(tx, inventoryId, beforeMs))
  return written
}

/**
 * Whoever bought within the last `beforeMs` has the confirmation in hand and gets none. Under the inventory's lock nobody is in the middle of being
 * confirmed, so the round sees everybody it has to.
 */
async function remindShow(tx: Tx, inventoryId: number, beforeMs: number): Promise<number> {
  const now = await lockSale(tx, inventoryId)
  const { count } = await tx`
    with chosen as materialized (
      select b.id as booking_id, gen_random_uuid() as id
      from bookings b join inventory_descriptions d on d.inventory_id = b.inventory_id
      where b.inventory_id = ${inventoryId} and b.status = 'CONFIRMED' and b.email is not null
        and d.starts_at > ${now} and d.starts_at <= ${now}::timestamptz + ${beforeMs} * interval '1 ms'
        and b.confirmed_at <= d.starts_at - ${beforeMs} * interval '1 ms')
    insert into mails (inventory_id, id, booking_id, event_id, kind, next_attempt_at, created_at)
    select ${inventoryId}, id, booking_id, id, 'REMINDER', ${now}, ${now} from chosen
    on conflict do nothing`
  await tx`
    insert into reminder_rounds (inventory_id, starts_at, made_at)
    select inventory_id, starts_at, ${now} from inventory_descriptions where inventory_id = ${inventoryId}
    on conflict (inventory_id) do update set starts_at = excluded.starts_at, made_at = excluded.made_at`
  return count
}
