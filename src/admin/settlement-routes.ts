// Debts of money, above all those that are stuck: looked at, tried again, or, for a refund, written down as paid out by hand.
import Type from 'typebox'
import { type App, closed, IdParam, Money, named, problems, Time } from '#core/http.ts'
import { formatNumbered, formatSharded, parseSharded } from '#core/ids.ts'
import type { Sql } from '#database/connect.ts'
import { requireRole } from '#identity/caller.ts'
import { recordRefundByHand, retrySettlement } from '#payments/retry-settlement.ts'

const ITEMS_MAX = 200
const Settlement = named(
  'Settlement',
  Type.Object({
    id: Type.String(),
    status: Type.Enum(['DUE', 'STUCK']),
    kind: Type.Enum(['CAPTURE', 'VOID', 'REFUND', 'EXPIRE_SESSION']),
    reason: Type.String(),
    amount: Money,
    paymentId: Type.String(),
    bookingId: Type.String(),
    attempts: Type.Integer(),
    lastError: Type.Union([Type.String(), Type.Null()]),
    createdAt: Time,
  }),
)
type Row = {
  inventoryId: number
  id: string
  paymentId: string
  bookingId: string
  kind: 'CAPTURE' | 'VOID' | 'REFUND' | 'EXPIRE_SESSION'
  status: 'DUE' | 'STUCK'
  reason: string
  amountMinor: number
  currency: string
  attempts: number
  lastError: string | null
  createdAt: string
}
type Parts = { sql: Sql; wake: (worker: string) => void }

export function settlementRoutes(app: App, { sql, wake }: Parts): void {
  const tags = ['Admin']
  const refusals = problems('UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND', 'SETTLEMENT_NOT_STUCK', 'INVALID_REQUEST')

  app.get(
    '/v1/admin/settlements',
    {
      schema: {
        operationId: 'listSettlements',
        summary: `Money that is owed and not moved yet, the oldest ${ITEMS_MAX}`,
        tags,
        querystring: closed({ status: Type.Optional(Type.Enum(['DUE', 'STUCK'])) }),
        response: {
          200: Type.Object({ items: Type.Array(Settlement), nextCursor: Type.Null() }),
          ...problems('INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN'),
        },
      },
    },
    async (request) => {
      requireRole(request, 'admin', 'box_office')
      const rows = await sql<Row[]>`
        select inventory_id, id, payment_id, booking_id, kind, status, reason, amount_minor, currency, attempts, last_error, created_at
        from settlements where status in ('DUE', 'STUCK') and status = coalesce(${request.query.status ?? null}, status)
        order by created_at limit ${ITEMS_MAX}`
      return { items: rows.map(describe), nextCursor: null }
    },
  )

  app.post(
    '/v1/admin/settlements/:id/retry',
    {
      schema: {
        operationId: 'retrySettlement',
        summary: 'Try a stuck settlement again',
        description: 'With a new key where the provider had said no, with the same one where nothing was heard.',
        tags,
        params: IdParam,
        response: { 204: { description: 'It is due; a worker tries it in a moment.' }, ...refusals },
      },
    },
    async (request, reply) => {
      const { keyId, name } = requireRole(request, 'admin')
      await retrySettlement(sql, parseSharded('debt', request.params.id), `${formatNumbered('key', keyId)} ${name}`)
      wake('settle')
      return reply.code(204).send()
    },
  )

  app.post(
    '/v1/admin/settlements/:id/done-by-hand',
    {
      schema: {
        operationId: 'recordRefundByHand',
        summary: 'Write down that a stuck refund was paid out another way',
        tags,
        params: IdParam,
        body: closed({
          reference: Type.String({ minLength: 1, maxLength: 200, description: 'How: a receipt, a transfer.' }),
        }),
        response: { 204: { description: 'The money went back.' }, ...refusals },
      },
    },
    async (request, reply) => {
      const { keyId, name } = requireRole(request, 'admin', 'box_office')
      const { reference } = request.body
      const by = `${formatNumbered('key', keyId)} ${name}`
      await recordRefundByHand(sql, parseSharded('debt', request.params.id), { by, reference })
      wake('relay')
      return reply.code(204).send()
    },
  )
}

function describe({ inventoryId, id, paymentId, bookingId, amountMinor, currency, ...row }: Row) {
  return {
    ...row,
    id: formatSharded('debt', inventoryId, id),
    amount: { amount: amountMinor, currency },
    paymentId: formatSharded('pay', inventoryId, paymentId),
    bookingId: formatSharded('book', inventoryId, bookingId),
  }
}
