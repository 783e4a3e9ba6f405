// What was sold, where and when, in the words the trade wrote down when it opened the inventory.
import type { Tx } from '#database/connect.ts'

export type Sale = {
  trade: string
  /** The number behind the trade's own id: `show_42` is 42. */
  number: number
  title: string
  venue: string
  area: string
  startsAt: string
  /** The venue's wall clock. */
  startsLocal: string
  endsAt: string | null
  timeZone: string
}

export async function readSale(tx: Tx, inventoryId: number): Promise<Sale | null> {
  const [sale] = await tx<Sale[]>`
    select trade, inventory_id as number, title, venue, area, starts_at, ends_at, time_zone,
      to_char(starts_at at time zone time_zone, 'YYYY-MM-DD"T"HH24:MI') as starts_local
    from inventory_descriptions where inventory_id = ${inventoryId}`
  return sale ?? null
}
