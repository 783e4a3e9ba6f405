// The payment providers of this process, with the secrets they sign with.
import { randomBytes } from 'node:crypto'
import type { Sql } from '#database/connect.ts'
import { loadSecret } from '#identity/secrets.ts'
import type { Providers } from './provider.ts'
import { createSandbox } from './sandbox.ts'

const SECRET_BYTES = 32

export async function openProviders(parts: {
  sql: Sql
  config: { publicUrl: string }
  wake: (worker: string) => void
}): Promise<Providers> {
  const webhookSecrets = [await loadSecret(parts.sql, 'sandbox-webhook', () => randomBytes(SECRET_BYTES))]
  return [createSandbox({ ...parts, webhookSecrets })]
}
