// What a booking looks like at the door.
import Type from 'typebox'
import { Money, named, Time } from '#core/http.ts'

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])
export const BOOKING_STATUSES = ['PENDING', 'CONFIRMED', 'CANCELLED', 'FAILED', 'EXPIRED'] as const
const BookingStatus = Type.Enum([...BOOKING_STATUSES], {
  description: 'An unpaid booking whose hold is over is EXPIRED from that very moment.',
})

export const Ticket = named(
  'Ticket',
  Type.Object({
    id: Type.String(),
    status: Type.Enum(['VALID', 'CANCELLED']),
    line: Type.Integer(),
    seat: nullable(Type.String()),
    code: Type.String({ description: 'What the QR says: signed, without personal data.' }),
    issuedAt: Time,
  }),
)

const Sale = Type.Object({
  trade: Type.String(),
  number: Type.Integer({ description: 'The number in the trade’s own id: `show_42` is 42.' }),
  title: Type.String(),
  venue: Type.String(),
  area: Type.String(),
  startsAt: Time,
  startsLocal: Type.String({ description: 'The venue’s wall clock.' }),
  endsAt: nullable(Time),
  timeZone: Type.String(),
})

const Line = Type.Object({
  line: Type.Integer(),
  seat: nullable(Type.String()),
  pool: nullable(Type.String()),
  category: Type.String(),
  amount: Money,
  status: Type.Enum(['ACTIVE', 'CANCELLED']),
})

const Payment = Type.Object({
  id: Type.String(),
  status: Type.Enum(['CREATED', 'AUTHORISED', 'CAPTURED', 'REFUNDED', 'FAILED', 'EXPIRED', 'VOIDED']),
  provider: Type.String(),
  amount: Money,
  captured: Money,
  refunded: Money,
  createdAt: Time,
})

const Refund = Type.Object({
  id: Type.String(),
  status: Type.Enum(['DUE', 'DONE', 'STUCK']),
  kind: Type.Enum(['REFUND', 'VOID'], { description: 'VOID: the money was only reserved, and is let go.' }),
  reason: Type.Enum(['LATE', 'SURPLUS', 'CANCELLED']),
  amount: Money,
  createdAt: Time,
})

export const Booking = named(
  'Booking',
  Type.Object({
    id: Type.String(),
    reference: Type.String({ description: 'Six characters to read out.' }),
    status: BookingStatus,
    amount: Money,
    promoCode: nullable(Type.String()),
    discount: Money,
    voucher: Money,
    email: nullable(Type.String()),
    name: nullable(Type.String()),
    createdAt: Time,
    expiresAt: Time,
    confirmedAt: nullable(Time),
    endedAt: nullable(Time),
    sale: nullable(Sale),
    lines: Type.Array(Line),
    payments: Type.Array(Payment, { description: 'Every attempt to pay, in their order.' }),
    refunds: Type.Array(Refund, { description: 'What goes back to the buyer, or went.' }),
    tickets: Type.Array(Ticket, { description: 'One for each line, about a second after the payment.' }),
  }),
)

const summary = {
  id: Type.String(),
  reference: Type.String(),
  status: BookingStatus,
  amount: Money,
  title: nullable(Type.String()),
  venue: nullable(Type.String()),
  startsAt: nullable(Time),
  timeZone: nullable(Type.String()),
  createdAt: Time,
  expiresAt: Time,
}
export const BookingSummary = named('BookingSummary', Type.Object(summary))
export const StaffBookingSummary = named(
  'StaffBookingSummary',
  Type.Object({
    ...summary,
    customerId: Type.String(),
    email: nullable(Type.String()),
    name: nullable(Type.String()),
  }),
)

export const RefundRule = Type.Object(
  {
    percent: Type.Integer(),
    untilMinutesBefore: Type.Integer({ description: 'The rule holds until so many minutes before the beginning.' }),
  },
  { description: 'Null: nothing was paid.' },
)

export const CancellationQuote = named(
  'CancellationQuote',
  Type.Object({
    refund: Money,
    voucher: Type.Optional(Money),
    rule: nullable(RefundRule),
    validUntil: Time,
    lines: Type.Array(Type.Object({ line: Type.Integer(), seat: nullable(Type.String()), refund: Money })),
  }),
)
