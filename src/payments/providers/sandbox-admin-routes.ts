// The sandbox's faults, switched by an administrator: rules for a share of all payments, a charge that nobody ordered, a buyer who wants money back.
import { randomBytes, randomUUID } from 'node:crypto'
import Type from 'typebox'
import { type App, closed, Money, problems } from '#core/http.ts'
import type { Sql } from '#database/connect.ts'
import { requireRole } from '#identity/caller.ts'
import { queueMessage, sandboxMessage } from './sandbox-callback.ts'
import { ALL_FAULTS } from './sandbox-faults.ts'
import { disputePayment } from './sandbox-session.ts'

const tags = ['Sandbox']
const Rules = closed({
  items: Type.Array(
    closed({ fault: Type.Enum([...ALL_FAULTS]), percent: Type.Integer({ minimum: 1, maximum: 100 }) }),
    { maxItems: ALL_FAULTS.length, description: 'None: everything goes well.' },
  ),
})
const refusals = problems('INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN')

export function sandboxAdminRoutes(app: App, { sql, wake }: { sql: Sql; wake: (worker: string) => void }): void {
  app.get(
    '/v1/admin/sandbox/faults',
    {
      schema: {
        operationId: 'readSandboxFaults',
        summary: 'What goes wrong with payments in the sandbox',
        tags,
        response: { 200: Rules, ...refusals },
      },
    },
    async (request) => {
      requireRole(request, 'admin')
      return {
        items: [...(await sql<{ fault: string; percent: number }[]>`select * from sandbox_fault_rules order by 1`)],
      }
    },
  )

  app.put(
    '/v1/admin/sandbox/faults',
    {
      schema: {
        operationId: 'setSandboxFaults',
        summary: 'Have a share of the payments opened from now on go wrong',
        description:
          'About the message: late, twice, never ... About a call: `slow`, `error`, `reply_lost` or `hang`, a colon and the call, as `reply_lost:capture`. One payment alone: the header `Sandbox-Faults` at its checkout, where the server runs in development.',
        tags,
        body: Rules,
        response: { 200: Rules, ...refusals },
      },
    },
    async (request) => {
      requireRole(request, 'admin')
      const { items } = request.body
      await sql.begin(async (tx) => {
        await tx`delete from sandbox_fault_rules`
        await tx`
          insert into sandbox_fault_rules (fault, percent)
          select fault, max(percent) from jsonb_to_recordset(${tx.json(items)}) r (fault text, percent int) group by fault`
      })
      return { items }
    },
  )

  app.post(
    '/v1/admin/sandbox/charges',
    {
      schema: {
        operationId: 'chargeUnknown',
        summary: 'Charge somebody in the sandbox whom we know nothing of',
        tags,
        body: closed({ amount: Money }),
        response: { 201: Type.Object({ id: Type.String() }), ...refusals },
      },
    },
    async (request, reply) => {
      requireRole(request, 'admin')
      const id = await chargeUnknown(sql, request.body.amount)
      wake('sandbox-delivery')
      return reply.code(201).send({ id })
    },
  )

  app.post(
    '/v1/admin/sandbox/payments/:id/dispute',
    {
      schema: {
        operationId: 'disputeSandboxPayment',
        summary: 'Have the buyer ask their bank for the money',
        tags,
        params: closed({ id: Type.String({ pattern: '^sbx_[0-9a-f]{32}$' }) }),
        response: { 204: { description: 'A message about it follows.' }, ...refusals, ...problems('PAYMENT_NOT_OPEN') },
      },
    },
    async (request, reply) => {
      requireRole(request, 'admin')
      await sql.begin((tx) => disputePayment(tx, request.params.id))
      wake('sandbox-delivery')
      return reply.code(204).send()
    },
  )
}

async function chargeUnknown(sql: Sql, { amount, currency }: { amount: number; currency: string }): Promise<string> {
  const id = `sbx_${randomBytes(16).toString('hex')}`
  const payment = { id, merchantReference: `order_${randomUUID()}`, amountMinor: amount, currency }
  await sql.begin(async (tx) => {
    await tx`
      insert into sandbox_payments (id, idempotency_key, merchant_reference, amount_minor, currency, description, status, captured_minor,
        session_expires_at, created_at)
      select ${id}, ${id}, ${payment.merchantReference}, ${amount}, ${currency}, 'of somebody else', 'CAPTURED', ${amount}, t, t from holdfast_now() t`
    await tx`
      insert into sandbox_movements (idempotency_key, payment_id, kind, amount_minor, moved_at)
      values (${randomUUID()}, ${id}, 'CAPTURE', ${amount}, holdfast_now())`
    await queueMessage(tx, sandboxMessage('captured', payment))
  })
  return id
}
