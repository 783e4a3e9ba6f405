// Says who is to be told from now on, and who not any more.
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'

/**
 * A sink hears of what is written after it was registered. Answers the names that are registered and not among these: what is written for them waits
 * until a process that has them runs, or an admin takes them away.
 */
export async function registerSinks(sql: Sql, names: string[]): Promise<string[]> {
  await sql`
    insert into outbox_sinks (name, since) select n, t from unnest(${names}::text[]) n, (select holdfast_now() as t offset 0) clock
    on conflict (name) do nothing`
  const others = await sql<{ name: string }[]>`
    select name from outbox_sinks where not name = any (${names}::text[]) order by name`
  return others.map(({ name }) => name)
}

/** What is written from now on is not for it, and its queue goes. Throws NOT_FOUND. Answers how many events it was not told. */
export async function removeSink(sql: Sql, name: string): Promise<number> {
  const removed = await sql`delete from outbox_sinks where name = ${name}`
  if (removed.count === 0) throw new Problem('NOT_FOUND')
  return dropUnregistered(sql)
}

/** Queues of sinks that are gone, also what a sale under way wrote just before. Answers how many rows went. */
export async function dropUnregistered(sql: Sql): Promise<number> {
  const dropped = await sql`
    with locked as materialized (
      select o.inventory_id, o.id from outbox o
      where o.unsent > 0 and exists (select from outbox_deliveries d
        where d.inventory_id = o.inventory_id and d.event_id = o.id and not exists (select from outbox_sinks s where s.name = d.sink))
      order by o.inventory_id, o.id for update of o),
    gone as (
      delete from outbox_deliveries d using locked l
      where d.inventory_id = l.inventory_id and d.event_id = l.id and not exists (select from outbox_sinks s where s.name = d.sink)
      returning d.inventory_id, d.event_id),
    fewer as (select inventory_id, event_id, count(*)::int as sinks from gone group by 1, 2)
    update outbox o set unsent = o.unsent - f.sinks, published_at = case when o.unsent = f.sinks then (select holdfast_now() offset 0) end
    from fewer f where o.inventory_id = f.inventory_id and o.id = f.event_id`
  return dropped.count
}
