// The draw as it is published: the seed, its hash, and everybody who took part in the order it gave.
import Type, { type Static } from 'typebox'
import { named } from '#core/http.ts'
import { formatNumbered } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { hashSeed } from './draw.ts'

export const PublishedDraw = named(
  'PublishedDraw',
  Type.Object({
    showtimeId: Type.String(),
    round: Type.Integer(),
    seedHash: Type.String(),
    seed: Type.String({ description: '64 hexadecimal digits' }),
    order: Type.Array(Type.String()),
  }),
)

/** Throws NOT_FOUND where there was never a waiting room, WAITING_ROOM_NOT_OPENED while the seed is still a secret. */
export async function readDraw(sql: Tx, inventoryId: number): Promise<Static<typeof PublishedDraw>> {
  const [row] = await sql<{ round: number; seed: string; drawn: string[]; opened: boolean }[]>`
    select round, encode(seed, 'hex') as seed, coalesce(drawn, '{}') as drawn, opened_at is not null as opened
    from waiting_rooms where inventory_id = ${inventoryId}`
  if (!row) throw new Problem('NOT_FOUND')
  const { round, seed, drawn, opened } = row
  const seedHash = hashSeed(seed)
  if (!opened) throw new Problem('WAITING_ROOM_NOT_OPENED', { seedHash })
  return { showtimeId: formatNumbered('show', inventoryId), round, seedHash, seed, order: drawn }
}
