// Adds a screen to a cinema together with the first version of its seats.
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { addLayout } from './add-layout.ts'
import type { LayoutSeat } from './layout.ts'

export type NewScreen = {
  cinemaId: number
  name: string
  seats: LayoutSeat[]
  focal?: { x: number; y: number }
  singleSeatsRefused?: boolean
  externalId?: string
}

/** Answers the id. NOT_FOUND without such a cinema, ALREADY_EXISTS when it has a screen of this name, LAYOUT_INVALID. */
export async function addScreen(tx: Tx, screen: NewScreen): Promise<number> {
  const [cinema] = await tx`select 1 from cinemas where id = ${screen.cinemaId}`
  if (!cinema) throw new Problem('NOT_FOUND')
  const [row] = await tx<{ id: number }[]>`
    insert into screens (cinema_id, name, single_seats_refused, external_id)
    values (${screen.cinemaId}, ${screen.name}, ${screen.singleSeatsRefused ?? false}, ${screen.externalId ?? null})
    on conflict (cinema_id, name) do nothing returning id`
  if (!row) throw new Problem('ALREADY_EXISTS', { detail: `The cinema has a screen ${screen.name} already.` })
  await addLayout(tx, row.id, screen.seats, screen.focal)
  return row.id
}
