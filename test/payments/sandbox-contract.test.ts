// The sandbox keeps the contract of every provider.
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { signWebhook } from '#core/standard-webhooks.ts'
import { createSandbox } from '#payments/providers/sandbox.ts'
import { paySession } from '#payments/providers/sandbox-session.ts'
import { freshDatabase } from '#test/support/database.ts'
import { type ProviderStage, providerContract } from './provider-contract.ts'

async function stage(t: TestContext): Promise<ProviderStage> {
  const { sql } = await freshDatabase(t)
  const webhookSecrets = [randomBytes(32)]
  const provider = createSandbox({
    sql,
    config: { publicUrl: 'http://localhost:3000' },
    webhookSecrets,
    wake: () => {},
  })
  const now = async () => (await sql<{ now: string }[]>`select holdfast_now() as now`)[0]?.now ?? ''
  let losing = false
  const lossy: typeof provider.capture = async (order) => {
    if (losing)
      await sql`update sandbox_payments set faults = '{reply_lost:capture}' where id = ${order.providerPaymentId}`
    return provider.capture(order)
  }
  return {
    provider: { ...provider, capture: lossy },
    now,
    async pay(id) {
      await paySession(sql, id)
    },
    async lastMessage(id) {
      const [message] = await sql<
        { id: string; body: string }[]
      >`select id, body from sandbox_callbacks where payment_id = ${id}`
      const rawBody = Buffer.from(message?.body ?? '')
      return { rawBody, headers: signWebhook(webhookSecrets, message?.id ?? '', await now(), rawBody) }
    },
    loseAnswers() {
      losing = true
      return () => {
        losing = false
      }
    },
  }
}

providerContract('sandbox', stage)
