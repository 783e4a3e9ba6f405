// The audit through the door: every invariant checked now, in one snapshot, under whatever load there is.
import Type from 'typebox'
import { type App, problems, Time } from '#core/http.ts'
import type { Sql } from '#database/connect.ts'
import { requireRole } from '#identity/caller.ts'
import { runAudit } from './run-audit.ts'

const Count = Type.Integer()

export function auditRoutes(app: App, { sql }: { sql: Sql }): void {
  app.get(
    '/v1/admin/audit',
    {
      schema: {
        operationId: 'runAudit',
        summary: 'Check every invariant now',
        description:
          'No findings is the only good answer. Takes a while on a large database; `holdfast audit` has no limit of time.',
        tags: ['Admin'],
        response: {
          200: Type.Object({
            status: Type.Enum(['CLEAN', 'FINDINGS']),
            asOf: Time,
            checkedMs: Type.Integer(),
            invariants: Type.Integer({ description: 'How many were checked.' }),
            counts: Type.Object({
              ...{
                inventories: Count,
                seats: Count,
                holds: Count,
                changes: Count,
                bookings: Count,
                payments: Count,
                events: Count,
              },
            }),
            findings: Type.Array(
              Type.Object({
                invariant: Type.String(),
                sentence: Type.String({ description: 'What must be true and is not.' }),
                rows: Type.Array(Type.Object({}, { additionalProperties: true })),
              }),
            ),
          }),
          ...problems('UNAUTHENTICATED', 'FORBIDDEN', 'OVERLOADED'),
        },
      },
    },
    async (request) => {
      requireRole(request, 'admin')
      const report = await runAudit(sql)
      const status: 'CLEAN' | 'FINDINGS' = report.findings.length === 0 ? 'CLEAN' : 'FINDINGS'
      return { status, ...report }
    },
  )
}
