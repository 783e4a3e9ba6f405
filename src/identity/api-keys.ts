// Keys of partners, box offices, scanners and admins: made, found, listed, revoked. Only a key's hash is kept. Owner of api_keys.
import { createHash, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { Problem } from '#core/problem.ts'
import type { Sql, Tx } from '#database/connect.ts'
import type { Role } from './caller.ts'

export type ApiKey = { keyId: number; name: string; roles: Role[] }
export type ListedKey = ApiKey & { createdAt: string; revokedAt: string | null }

// A revoked key works this much longer at most in processes that have just seen it.
const CACHE_TTL_MS = 3_000
const CACHE_ENTRIES_MAX = 2_000
const CONFIGURED_NAME = 'HOLDFAST_ADMIN_KEY'

/** The key itself is answered here and never again. */
export async function createApiKey(
  tx: Tx,
  given: { name: string; roles: Role[] },
): Promise<ApiKey & { key: string; createdAt: string }> {
  const key = `hk_${randomBytes(32).toString('base64url')}`
  const [row] = await tx<{ id: number; createdAt: string }[]>`
    insert into api_keys (name, key_hash, roles) values (${given.name}, ${hashOf(key)}, ${given.roles}::text[])
    returning id, created_at`
  if (!row) throw new Error('the key was not written')
  return { keyId: row.id, name: given.name, roles: given.roles, key, createdAt: row.createdAt }
}

/** Newest first; `before` is the id of the last key of the page before. */
export async function listApiKeys(tx: Tx, page: { before: number | null; limit: number }): Promise<ListedKey[]> {
  return tx<ListedKey[]>`
    select id as key_id, name, roles, created_at, revoked_at from api_keys
    where ${page.before}::bigint is null or id < ${page.before} order by id desc limit ${page.limit}`
}

/** Revoking twice is one revocation. Throws NOT_FOUND, and LAST_ADMIN_KEY rather than lock everybody out. */
export async function revokeApiKey(sql: Sql, keyId: number): Promise<void> {
  await sql.begin(async (tx) => {
    await lockKeys(tx)
    const [key] = await tx<{ last: boolean }[]>`
      select revoked_at is null and 'admin' = any (roles) and not exists (
        select from api_keys o where o.id <> k.id and 'admin' = any (o.roles) and o.revoked_at is null) as last
      from api_keys k where id = ${keyId}`
    if (!key) throw new Problem('NOT_FOUND')
    if (key.last) throw new Problem('LAST_ADMIN_KEY')
    await tx`update api_keys set revoked_at = clock_timestamp() where id = ${keyId} and revoked_at is null`
  })
}

// Two first starts make one key, and two admins who revoke each other leave one.
async function lockKeys(tx: Tx): Promise<void> {
  await tx`lock table api_keys in share row exclusive mode`
}

/** Looks a key up, null when it is unknown or revoked. Kept a few seconds, the noes too, so that a rush with one key costs one lookup. */
export function createKeyFinder(sql: Sql): (key: string) => Promise<ApiKey | null> {
  const known = new LRUCache<string, Promise<ApiKey | null>>({ max: CACHE_ENTRIES_MAX, ttl: CACHE_TTL_MS })
  return (key) => {
    const hash = hashOf(key).toString('hex')
    const kept = known.get(hash)
    if (kept) return kept
    const asked = findByHash(sql, hash)
    known.set(hash, asked)
    asked.catch(() => known.delete(hash)) // A database that was away is not an answer.
    return asked
  }
}

async function findByHash(sql: Sql, hash: string): Promise<ApiKey | null> {
  const [row] = await sql<ApiKey[]>`
    select id as key_id, name, roles from api_keys where key_hash = decode(${hash}, 'hex') and revoked_at is null`
  return row ?? null
}

/** Makes the configured admin key the valid one, and an earlier configured one invalid. */
export async function ensureConfiguredAdminKey(sql: Sql, key: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      insert into api_keys (name, key_hash, roles) values (${CONFIGURED_NAME}, ${hashOf(key)}, '{admin}')
      on conflict (key_hash) do update set revoked_at = null`
    await tx`
      update api_keys set revoked_at = clock_timestamp()
      where name = ${CONFIGURED_NAME} and key_hash <> ${hashOf(key)} and revoked_at is null`
  })
}

/** Where no admin key exists yet: makes one and answers it, to be printed once; null where one exists. */
export async function makeFirstAdminKey(sql: Sql): Promise<string | null> {
  return sql.begin(async (tx) => {
    await lockKeys(tx)
    const [admin] = await tx`select from api_keys where 'admin' = any (roles) and revoked_at is null limit 1`
    return admin ? null : (await createApiKey(tx, { name: 'first admin', roles: ['admin'] })).key
  })
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
