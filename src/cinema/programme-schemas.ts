// The shapes in which the programme leaves the house; reply checks, OpenAPI and client are made from them.
import Type from 'typebox'
import { closed, Money, named, Time } from '#core/http.ts'

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])
const Reference = Type.Object({ id: Type.String(), name: Type.String() })

const Availability = Type.Object(
  { free: Type.Integer(), total: Type.Integer(), asOf: Time },
  { description: 'To show how full it is; may be some seconds old. What is free is decided when seats are held.' },
)

export const Showtime = named(
  'Showtime',
  Type.Object({
    id: Type.String({ examples: ['show_42'] }),
    status: Type.Enum(['SCHEDULED', 'CANCELLED']),
    movie: Type.Object({ id: Type.String(), title: Type.String() }),
    cinema: Type.Object({ id: Type.String(), name: Type.String(), city: Reference }),
    screen: Reference,
    startsAt: Time,
    endsAt: Time,
    startsLocal: Type.String({
      description: 'The venue’s wall clock with the offset of that day.',
      examples: ['2026-12-04T18:45:00+11:00'],
    }),
    timeZone: Type.String({ description: 'IANA', examples: ['Australia/Melbourne'] }),
    businessDay: Type.String({
      description: 'The day of the programme: a show at 00:35 stands in that of the evening before.',
      examples: ['2026-12-04'],
    }),
    format: Type.Enum(['2D', '3D', 'IMAX']),
    language: nullable(Type.String()),
    captions: Type.Boolean(),
    audioDescription: Type.Boolean(),
    priceFrom: nullable(Money),
    availability: Availability,
  }),
)

export const Movie = named(
  'Movie',
  Type.Object({
    id: Type.String({ examples: ['movie_7'] }),
    title: Type.String(),
    year: nullable(Type.Integer()),
    language: nullable(Type.String()),
    minutes: nullable(Type.Integer()),
    certificate: nullable(Type.String()),
    genres: Type.Array(Type.String()),
    cast: Type.Array(Type.String()),
    showtimes: Type.Array(Showtime, {
      description: 'Those that fit the question, earliest first; a list shows the next twelve.',
    }),
    showtimesTotal: Type.Integer({ description: 'How many fit it in all.' }),
  }),
)

export const Cinema = named(
  'Cinema',
  Type.Object({
    id: Type.String({ examples: ['cinema_3'] }),
    name: Type.String(),
    address: Type.String(),
    city: Reference,
    timeZone: Type.String(),
    currency: Type.String(),
    screens: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), seats: Type.Integer() })),
  }),
)

export const City = named(
  'City',
  Type.Object({
    id: Type.String({ examples: ['city_2'] }),
    name: Type.String(),
    country: Type.String({ description: 'ISO 3166-1 alpha-2' }),
    cinemas: Type.Array(Cinema),
  }),
)

export const SeatKindName = Type.Enum(['NORMAL', 'ACCESSIBLE', 'COMPANION', 'COUPLE'])
const SeatStatusName = Type.Enum(['AVAILABLE', 'HELD', 'BOOKED', 'BLOCKED'])
const Since = Type.String({
  format: 'date-time',
  description: 'Since when the seats are as shown: the last change, or the end of the last hold that ran out.',
})

const PlacedSeat = {
  code: Type.String({ description: 'What a hold names; a label, not to be parsed.' }),
  section: Type.Optional(Type.String()),
  row: Type.String(),
  number: Type.String(),
  x: Type.Number({ description: 'The screen is at y = 0; any unit, the same within a map.' }),
  y: Type.Number(),
  category: Type.String(),
  kind: SeatKindName,
}

export const ShowLayout = named(
  'ShowLayout',
  Type.Object({
    showtimeId: Type.String(),
    layoutVersion: Type.Integer(),
    width: Type.Number(),
    height: Type.Number(),
    seats: Type.Array(Type.Object(PlacedSeat)),
  }),
)

export const SeatMap = named(
  'SeatMap',
  Type.Object({
    showtimeId: Type.String(),
    version: Type.Integer({ description: 'Grows with every change.' }),
    asOf: Since,
    currency: Type.String(),
    layoutVersion: Type.Integer(),
    width: Type.Number(),
    height: Type.Number(),
    categories: Type.Array(Type.Object({ code: Type.String(), name: Type.String(), price: Money })),
    seats: Type.Array(
      Type.Object({
        ...PlacedSeat,
        price: Money,
        status: SeatStatusName,
        mine: Type.Optional(Type.Boolean({ description: 'Held by you.' })),
      }),
      { description: 'In layout order.' },
    ),
  }),
)

export const SeatStatuses = named(
  'SeatStatuses',
  Type.Object({
    showtimeId: Type.String(),
    version: Type.Integer(),
    asOf: Since,
    statuses: Type.String({
      description: 'One letter a seat in layout order: A available, H held, B booked, X blocked.',
      examples: ['AAHB'],
    }),
    mine: Type.Optional(Type.Array(Type.String(), { description: 'Codes of the seats you hold.' })),
  }),
)

const SeatCode = Type.String({ minLength: 1, maxLength: 64 })
// Far more than any hold may have, so that a long list is TOO_MANY_SEATS and not a fault of form.
export const SeatCodes = Type.Array(SeatCode, { maxItems: 1000 })

export const HoldBody = closed({
  ticketTypes: Type.Optional(
    Type.Array(Type.String({ maxLength: 32 }), {
      maxItems: 100,
      description: 'Who is admitted by each seat, in their order; ADULT where nothing is said.',
      examples: [['ADULT', 'CHILD']],
    }),
  ),
  seats: Type.Optional(SeatCodes),
  bestAvailable: Type.Optional(
    closed({
      quantity: Type.Integer({ minimum: 0, maximum: 1000 }),
      category: Type.Optional(Type.String({ maxLength: 64, examples: ['RECLINER'] })),
    }),
  ),
})

export const PlacedHold = named(
  'PlacedHold',
  Type.Object({
    holdId: Type.String({ examples: ['hold_42_0198f3c2a5d04e7c8b1f6a2e9d3c4b5a'] }),
    holdToken: Type.String({ description: 'Proves who holds. Keep it secret.' }),
    showtimeId: Type.String(),
    seats: Type.Array(Type.String()),
    amount: Money,
    expiresAt: Time,
    remainingMs: Type.Integer({ description: 'On the server’s clock: count down from it.' }),
  }),
)
