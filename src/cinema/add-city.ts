// Adds a city that people can look in.
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'

/** `country` is ISO 3166-1 alpha-2. Answers the id; ALREADY_EXISTS when the country has a city of this name. */
export async function addCity(tx: Tx, city: { name: string; country: string }): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    insert into cities (name, country) values (${city.name}, ${city.country}) on conflict (country, name) do nothing returning id`
  if (!row) throw new Problem('ALREADY_EXISTS', { detail: `There is a city ${city.name} in ${city.country} already.` })
  return row.id
}
