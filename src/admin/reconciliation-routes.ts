// Reconciliations: asked for, and read with every difference by its name and the totals that must leave nothing over.
import Type from 'typebox'
import { type App, closed, IdParam, named, problems, Time } from '#core/http.ts'
import { formatNumbered, formatSharded, parseNumbered } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { requireRole } from '#identity/caller.ts'
import type { CurrencyTotals } from '#payments/reconcile.ts'
import { requestReconciliation } from '#payments/reconciliations.ts'

const LISTED = 50
const text = Type.Union([Type.String(), Type.Null()])
const Totals = Type.Object(
  {
    currency: Type.String(),
    payments: Type.Integer(),
    providerMinor: Type.Integer({ description: 'Captured less refunded, by the provider’s list.' }),
    paymentsMinor: Type.Integer({ description: 'The same by our payments.' }),
    bookingsMinor: Type.Integer({ description: 'What bookings cost, less what their cancellations give back.' }),
    owedMinor: Type.Integer({ description: 'Refunds due, less captures due.' }),
    differencesMinor: Type.Integer(),
    restMinor: Type.Integer({ description: 'provider − differences − owed − bookings: 0, always.' }),
  },
  { description: 'Of one currency; sums never mix two.' },
)
const Reconciliation = named(
  'Reconciliation',
  Type.Object({
    id: Type.String(),
    status: Type.Enum(['QUEUED', 'RUNNING', 'DONE', 'FAILED']),
    since: Time,
    until: Time,
    requestedBy: Type.String(),
    requestedAt: Time,
    finishedAt: text,
    failure: text,
    totals: Type.Array(Totals),
  }),
)
const DifferenceRow = Type.Object({
  kind: Type.String(),
  action: Type.Enum(['REPAIRED', 'DRIVEN', 'WORKLIST']),
  provider: Type.String(),
  providerPaymentId: text,
  paymentId: text,
  amountMinor: Type.Integer({ description: 'What this side has more than the next one.' }),
  currency: Type.String(),
  facts: Type.Object({}, { additionalProperties: true }),
})

type Row = {
  id: number
  status: 'QUEUED' | 'RUNNING' | 'DONE' | 'FAILED'
  since: string
  until: string
  requestedBy: string
  requestedAt: string
  finishedAt: string | null
  failure: string | null
  totals: CurrencyTotals[]
}
type DifferenceFacts = {
  kind: string
  action: 'REPAIRED' | 'DRIVEN' | 'WORKLIST'
  provider: string
  providerPaymentId: string | null
  inventoryId: number | null
  paymentId: string | null
  amountMinor: number
  currency: string
  facts: Record<string, unknown>
}

export function reconciliationRoutes(app: App, { sql, wake }: { sql: Sql; wake: (worker: string) => void }): void {
  const tags = ['Admin']
  const refusals = problems('INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN')

  app.post(
    '/v1/admin/reconciliations',
    {
      schema: {
        operationId: 'requestReconciliation',
        summary: 'Compare payments, the providers’ lists and the ledger of bookings',
        description: 'By when a payment was opened; without a body the last day. A worker does it; read it by its id.',
        tags,
        body: Type.Union([closed({ since: Type.Optional(Time), until: Type.Optional(Time) }), Type.Null()]),
        response: { 202: Reconciliation, ...refusals },
      },
    },
    async (request, reply) => {
      const { keyId, name } = requireRole(request, 'admin')
      const { since, until } = request.body ?? {}
      if (since !== undefined && until !== undefined && Date.parse(since) >= Date.parse(until)) {
        throw new Problem('INVALID_REQUEST', { errors: [{ path: '/until', message: 'is not after since' }] })
      }
      const id = await requestReconciliation(sql, { since, until, by: `${formatNumbered('key', keyId)} ${name}` })
      wake('reconcile')
      return reply.code(202).send(await readOne(sql, id))
    },
  )

  app.get(
    '/v1/admin/reconciliations',
    {
      schema: {
        operationId: 'listReconciliations',
        summary: `The last ${LISTED} reconciliations, newest first`,
        tags,
        response: { 200: Type.Object({ items: Type.Array(Reconciliation), nextCursor: Type.Null() }), ...refusals },
      },
    },
    async (request) => {
      requireRole(request, 'admin')
      const rows = await sql<Row[]>`${columns(sql)} order by id desc limit ${LISTED}`
      return { items: rows.map(describe), nextCursor: null }
    },
  )

  app.get(
    '/v1/admin/reconciliations/:id',
    {
      schema: {
        operationId: 'readReconciliation',
        summary: 'A reconciliation with its differences',
        tags,
        params: IdParam,
        response: {
          200: Type.Object({ reconciliation: Reconciliation, differences: Type.Array(DifferenceRow) }),
          ...refusals,
          ...problems('NOT_FOUND'),
        },
      },
    },
    async (request) => {
      requireRole(request, 'admin')
      const id = parseNumbered('recon', request.params.id)
      const reconciliation = await readOne(sql, id)
      const rows = await sql<DifferenceFacts[]>`
        select kind, action, provider, provider_payment_id, inventory_id, payment_id, amount_minor, currency, facts
        from reconciliation_differences where reconciliation_id = ${id} order by no`
      return { reconciliation, differences: rows.map(describeDifference) }
    },
  )
}

function columns(sql: Sql) {
  return sql`
    select id, status, since_at as since, until_at as until, requested_by, requested_at, finished_at, failure, totals from reconciliations`
}

async function readOne(sql: Sql, id: number) {
  const [row] = await sql<Row[]>`${columns(sql)} where id = ${id}`
  if (!row) throw new Problem('NOT_FOUND')
  return describe(row)
}

function describe(row: Row) {
  return { ...row, id: formatNumbered('recon', row.id) }
}

function describeDifference({ inventoryId, paymentId, ...row }: DifferenceFacts) {
  const known = inventoryId !== null && paymentId !== null
  return { ...row, paymentId: known ? formatSharded('pay', inventoryId, paymentId) : null }
}
