// Gives an endpoint a new secret; the old one signs along for a while, so that the receiver can change over without losing a message.
import { randomBytes } from 'node:crypto'
import type { Sql } from '#database/connect.ts'
import { type Endpoint, SECRET_BYTES } from './endpoint.ts'

/** With 0 seconds the old one ends at once: for one that got known. The new secret is answered here and never again. */
export async function rotateSecret(
  sql: Sql,
  { id }: Endpoint,
  keepPreviousSeconds: number,
): Promise<{ secret: Buffer; previousUntil: string }> {
  const secret = randomBytes(SECRET_BYTES)
  const [row] = await sql<{ previousUntil: string }[]>`
    update webhook_endpoints set previous_secret = secret, secret = ${secret}, updated_at = holdfast_now(),
      previous_until = holdfast_now() + ${keepPreviousSeconds} * interval '1 s'
    where id = ${id} returning previous_until`
  if (!row) throw new Error(`endpoint ${id} went away`)
  return { secret, previousUntil: row.previousUntil }
}
