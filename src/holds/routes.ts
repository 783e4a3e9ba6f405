// Reading and extending a hold. It is placed at a trade's door, paid and given up at the payments' door.
import Type from 'typebox'
import { type App, IdParam, Money, named, problems, Time } from '#core/http.ts'
import { formatSharded } from '#core/ids.ts'
import type { Sql } from '#database/connect.ts'
import type { HoldState } from '#inventory/seat-store.ts'
import type { Quote } from '#pricing/quote.ts'
import { extendHold } from './extend-hold.ts'
import { remainingMs } from './hold-time.ts'
import { findHold } from './read-hold.ts'

const HoldLine = Type.Object({
  seat: Type.Optional(Type.String()),
  pool: Type.Optional(Type.String()),
  quantity: Type.Integer(),
  category: Type.String(),
  amount: Money,
  parts: Type.Array(Type.Object({ label: Type.String(), amount: Money }), {
    description: 'Why it costs that; sums to the line.',
  }),
})

const Hold = named(
  'Hold',
  Type.Object({
    id: Type.String(),
    status: Type.Enum(['HELD', 'CHECKED_OUT', 'BOOKED', 'RELEASED', 'EXPIRED']),
    seats: Type.Array(Type.String()),
    lines: Type.Array(HoldLine, { description: 'The quote, frozen when the hold was placed.' }),
    amount: Money,
    expiresAt: Time,
    remainingMs: Type.Integer({ description: 'On the server’s clock: count down from it. 0 when it is over.' }),
    extensions: Type.Integer({ description: 'How often it was extended.' }),
    bookingId: Type.Union([Type.String(), Type.Null()]),
  }),
)

type Parts = { sql: Sql; config: { holdTtlMs: number; holdExtensionsMax: number } }

export function holdRoutes(app: App, { sql, config }: Parts): void {
  app.get(
    '/v1/holds/:id',
    {
      schema: {
        operationId: 'getHold',
        summary: 'A hold as it is now',
        tags: ['Holds'],
        params: IdParam,
        response: { 200: Hold, ...problems('NOT_FOUND') },
      },
    },
    async (request) => describeHold(await findHold(sql, request.params.id, request)),
  )

  app.post(
    '/v1/holds/:id/extend',
    {
      schema: {
        operationId: 'extendHold',
        summary: 'More time for a hold',
        description: 'From now on a full hold time again; a bounded number of times and never beyond its longest life.',
        tags: ['Holds'],
        params: IdParam,
        response: {
          200: Type.Object({ id: Type.String(), expiresAt: Time, remainingMs: Type.Integer() }),
          ...problems(
            'NOT_FOUND',
            'HOLD_EXPIRED',
            'HOLD_RELEASED',
            'HOLD_CHECKED_OUT',
            'ALREADY_BOOKED',
            'EXTENSION_LIMIT',
          ),
        },
      },
    },
    async (request) => {
      const hold = await findHold(sql, request.params.id, request)
      return { id: request.params.id, ...(await extendHold(sql, hold, config)) }
    },
  )
}

function describeHold(hold: HoldState & { inventoryId: number }) {
  const { inventoryId, currency } = hold
  const over = hold.status !== 'HELD' && hold.status !== 'CHECKED_OUT'
  return {
    id: formatSharded('hold', inventoryId, hold.holdId),
    status: hold.status,
    seats: hold.seats,
    lines: (hold.quote as Quote).lines.map(({ amountMinor, parts, taxMinor: _, ...line }) => ({
      ...line,
      amount: { amount: amountMinor, currency },
      parts: parts.map((part) => ({ label: part.label, amount: { amount: part.amountMinor, currency } })),
    })),
    amount: { amount: hold.amountMinor, currency },
    expiresAt: hold.expiresAt,
    remainingMs: over ? 0 : remainingMs(hold.expiresAt, hold.asOf),
    extensions: hold.extensions,
    bookingId: hold.bookingId === null ? null : formatSharded('book', inventoryId, hold.bookingId),
  }
}
