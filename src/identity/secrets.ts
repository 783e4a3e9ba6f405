// Secrets this installation made for itself at its first start, kept in the database so that all its processes agree. Owner of server_secrets.
import { randomBytes } from 'node:crypto'
import type { Tx } from '#database/connect.ts'
import { type Mac, macOf } from './mac.ts'

export type Secrets = {
  /** Signs session tokens. */
  session: Mac
  /** Hold tokens are derived from it. */
  holdToken: Mac
}

const SECRET_BYTES = 32

export async function loadSecrets(sql: Tx): Promise<Secrets> {
  const session = await loadSecret(sql, 'session', () => randomBytes(SECRET_BYTES))
  const holdToken = await loadSecret(sql, 'hold-token', () => randomBytes(SECRET_BYTES))
  return { session: macOf(session), holdToken: macOf(holdToken) }
}

/** The secret of this name, made the first time anybody asks; two processes that ask at once get the same one. */
export async function loadSecret(sql: Tx, name: string, make: () => Buffer): Promise<Buffer> {
  const [kept] = await sql<{ value: Buffer }[]>`select value from server_secrets where name = ${name}`
  if (kept) return kept.value
  await sql`insert into server_secrets (name, value) values (${name}, ${make()}) on conflict (name) do nothing`
  const [row] = await sql<{ value: Buffer }[]>`select value from server_secrets where name = ${name}`
  if (!row) throw new Error(`the secret ${name} is not there after it was written`)
  return row.value
}
