// Reads a price list with its rules in their order. New holds take its newest revision; what is held keeps the price it was held at.
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import type { PriceList, PriceRule } from '#pricing/price-list.ts'

export type StoredPriceList = PriceList & {
  id: number
  cinemaId: number
  name: string
  revision: number
  /** What the house calls its categories, by code. */
  categoryNames: Record<string, string>
}

/** NOT_FOUND when there is none. */
export async function readPriceList(sql: Tx, id: number): Promise<StoredPriceList> {
  const [row] = await sql<(Omit<StoredPriceList, 'rules'> & { rules: PriceRule[] })[]>`
    select p.id, p.cinema_id, p.name, p.currency, p.tax_basis_points, p.revision,
      coalesce((select jsonb_agg(jsonb_build_object('strategy', r.strategy, 'label', r.label, 'terms', r.terms) order by r.position)
        from price_rules r where r.price_list_id = p.id), '[]') as rules,
      (select jsonb_object_agg(c.code, c.name) from seat_categories c where c.cinema_id = p.cinema_id) as category_names
    from price_lists p where p.id = ${id}`
  if (!row) throw new Problem('NOT_FOUND')
  return row
}
