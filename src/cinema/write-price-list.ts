// Writes a cinema's price list: a new one, or a new revision of one. What is held already keeps the price it was held at.
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { checkPriceList, type PriceRule } from '#pricing/price-list.ts'

export type NewPriceList = {
  cinemaId: number
  name: string
  /** Tax contained in the prices: 10 % is 1000. */
  taxBasisPoints: number
  rules: PriceRule[]
  externalId?: string
}

/** Answers the id. NOT_FOUND without such a cinema; PRICE_LIST_INVALID when it cannot price every category the cinema has. */
export async function addPriceList(tx: Tx, list: NewPriceList): Promise<number> {
  const currency = await checkRules(tx, list.cinemaId, list)
  const [row] = await tx<{ id: number }[]>`
    insert into price_lists (cinema_id, name, currency, tax_basis_points, external_id)
    values (${list.cinemaId}, ${list.name}, ${currency}, ${list.taxBasisPoints}, ${list.externalId ?? null}) returning id`
  if (!row) throw new Error('insert into price_lists answered no row')
  await writeRules(tx, row.id, list.rules)
  return row.id
}

/** Replaces all rules at once; every new hold of its showtimes has the new price. Answers the revision; errors as above. */
export async function changePriceList(
  tx: Tx,
  id: number,
  change: { taxBasisPoints: number; rules: PriceRule[] },
): Promise<number> {
  const [list] = await tx<{ cinemaId: number }[]>`select cinema_id from price_lists where id = ${id} for update`
  if (!list) throw new Problem('NOT_FOUND')
  await checkRules(tx, list.cinemaId, change)
  const [row] = await tx<{ revision: number }[]>`
    update price_lists set revision = revision + 1, tax_basis_points = ${change.taxBasisPoints} where id = ${id} returning revision`
  await tx`delete from price_rules where price_list_id = ${id}`
  await writeRules(tx, id, change.rules)
  return row?.revision ?? 0
}

async function checkRules(
  tx: Tx,
  cinemaId: number,
  list: { taxBasisPoints: number; rules: PriceRule[] },
): Promise<string> {
  const [cinema] = await tx<{ currency: string; categories: string[] }[]>`
    select c.currency, array(select s.code from seat_categories s where s.cinema_id = c.id order by s.position) as categories
    from cinemas c where c.id = ${cinemaId}`
  if (!cinema) throw new Problem('NOT_FOUND')
  try {
    checkPriceList({ currency: cinema.currency, ...list }, cinema.categories)
  } catch (error) {
    if (error instanceof RangeError) throw new Problem('PRICE_LIST_INVALID', { detail: error.message })
    throw error
  }
  return cinema.currency
}

async function writeRules(tx: Tx, priceListId: number, rules: PriceRule[]): Promise<void> {
  await tx`
    insert into price_rules (price_list_id, position, strategy, label, terms)
    select ${priceListId}, r.position, r.rule ->> 'strategy', r.rule ->> 'label', r.rule -> 'terms'
    from jsonb_array_elements(${tx.json(rules as never)}) with ordinality r (rule, position)`
}
