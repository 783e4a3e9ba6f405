// The payment providers of this process, with the secrets they sign with. Which there are is the operator's to say; refuses what would take no real money.
import { randomBytes } from 'node:crypto'
import type { Sql } from '#database/connect.ts'
import { StartRefused } from '#database/start-refused.ts'
import { loadSecret } from '#identity/secrets.ts'
import { createCash } from './cash.ts'
import type { Provider, Providers } from './provider.ts'
import { createSandbox } from './sandbox.ts'

export type ProvidersConfig = {
  publicUrl: string
  holdfastMode: 'development' | 'production'
  allowSandbox: 'off' | 'on'
}
type Parts = { sql: Sql; config: ProvidersConfig; wake: (worker: string) => void }

const SECRET_BYTES = 32

/** The sandbox in development or where it is allowed, cash behind them. Throws StartRefused. */
export async function openProviders(parts: Parts): Promise<Providers> {
  const { holdfastMode, allowSandbox } = parts.config
  const online: Provider[] = []
  if (holdfastMode === 'development' || allowSandbox === 'on') online.push(await openSandbox(parts))
  const [first, ...others] = online
  if (!first)
    throw new StartRefused(
      'In production nobody pays for nothing: the sandbox is the only payment provider configured, and ALLOW_SANDBOX is not on.',
    )
  return [first, ...others, createCash()]
}

async function openSandbox(parts: Parts): Promise<Provider> {
  const webhookSecrets = [await loadSecret(parts.sql, 'sandbox-webhook', () => randomBytes(SECRET_BYTES))]
  return createSandbox({ ...parts, webhookSecrets })
}
