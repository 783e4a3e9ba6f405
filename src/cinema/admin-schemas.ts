// What the administration of the cinema sends in, and the few shapes it gets back.
import Type, { type Static } from 'typebox'
import { closed, named } from '#core/http.ts'
import { Problem } from '#core/problem.ts'
import { STRATEGY_NAMES } from '#pricing/price-list.ts'
import { LAYOUT_SEATS_MAX } from './add-layout.ts'
import type { LayoutSeat } from './layout.ts'
import { SeatKindName } from './programme-schemas.ts'
import { type RowPattern, seatsOfPattern } from './row-pattern.ts'

export const tags = ['Admin']
export const Created = named('Created', Type.Object({ id: Type.String() }))
export const Name = Type.String({ minLength: 1, maxLength: 200 })
const Code = Type.String({ minLength: 1, maxLength: 64 })

const RuleBody = closed({
  strategy: Type.Enum(STRATEGY_NAMES),
  label: Name,
  terms: Type.Object(
    {},
    { additionalProperties: true, description: 'What the strategy needs, such as {"category", "amountMinor"}.' },
  ),
})
export const PriceListBody = {
  taxBasisPoints: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    description: 'Tax contained in the prices: 10 % is 1000.',
  }),
  rules: Type.Array(RuleBody, { minItems: 1, maxItems: 100, description: 'Applied in this order.' }),
}

export const PriceListView = named(
  'PriceList',
  Type.Object({
    id: Type.String(),
    cinemaId: Type.String(),
    name: Type.String(),
    currency: Type.String(),
    revision: Type.Integer(),
    taxBasisPoints: Type.Integer(),
    rules: Type.Array(
      Type.Object({
        strategy: Type.String(),
        label: Type.String(),
        terms: Type.Object({}, { additionalProperties: true }),
      }),
    ),
  }),
)

export const CityBody = closed({
  name: Name,
  country: Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2' }),
})

export const CinemaBody = closed({
  cityId: Code,
  name: Name,
  address: Type.Optional(Type.String({ maxLength: 500 })),
  timeZone: Type.String({ maxLength: 64, description: 'IANA' }),
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
  categories: Type.Array(closed({ code: Code, name: Name }), { minItems: 1, maxItems: 50 }),
  businessDayStarts: Type.Optional(Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$' })),
  cleaningMinutes: Type.Optional(Type.Integer({ minimum: 0, maximum: 240 })),
  refundRules: Type.Optional(
    Type.Array(
      closed({
        untilMinutesBefore: Type.Integer({ minimum: 0, maximum: 100_000 }),
        percent: Type.Integer({ minimum: 0, maximum: 100 }),
      }),
      { maxItems: 20, description: 'The first that still applies wins; an empty list is no refund.' },
    ),
  ),
})

export const MovieBody = closed({
  title: Name,
  year: Type.Optional(Type.Integer({ minimum: 1880, maximum: 2200 })),
  language: Type.Optional(Type.String({ maxLength: 35 })),
  minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  certificate: Type.Optional(Type.String({ maxLength: 20 })),
  genres: Type.Optional(Type.Array(Name, { maxItems: 20 })),
  cast: Type.Optional(Type.Array(Name, { maxItems: 50 })),
})

const Local = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2})?$',
  description: 'On the venue’s wall clock.',
  examples: ['2026-12-04T18:45'],
})

const SeatBody = closed({
  code: Code,
  section: Type.Optional(Type.String({ maxLength: 64 })),
  row: Code,
  number: Code,
  x: Type.Number(),
  y: Type.Number(),
  category: Code,
  kind: Type.Optional(SeatKindName),
})
const Kinds = Type.Record(Type.String(), SeatKindName)
const PatternBody = closed({
  section: Type.Optional(Type.String({ maxLength: 64 })),
  codePrefix: Type.Optional(Type.String({ maxLength: 10 })),
  rows: Type.Integer({ minimum: 1, maximum: 100 }),
  seatsPerRow: Type.Union([
    Type.Integer({ minimum: 1, maximum: 200 }),
    Type.Array(Type.Integer({ minimum: 1, maximum: 200 }), { minItems: 1, maxItems: 100 }),
  ]),
  category: Code,
  categoryOfRow: Type.Optional(Type.Record(Type.String(), Code)),
  kindOfRow: Type.Optional(Kinds),
  kindOfSeat: Type.Optional(Kinds),
  aislesAfter: Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 200 }), { maxItems: 10 })),
  lettersSkipped: Type.Optional(Type.String({ maxLength: 20, pattern: '^[A-Z]*$' })),
  bend: Type.Optional(Type.Number({ minimum: -10, maximum: 10 })),
  firstRowAt: Type.Optional(Type.Number({ minimum: 0, maximum: 1000 })),
})
export const LayoutBody = {
  seats: Type.Optional(
    Type.Array(SeatBody, { maxItems: LAYOUT_SEATS_MAX, description: 'In layout order, the screen at y = 0.' }),
  ),
  patterns: Type.Optional(
    Type.Array(PatternBody, { minItems: 1, maxItems: 10, description: 'Instead of seats: plain blocks of rows.' }),
  ),
  focal: Type.Optional(closed({ x: Type.Number(), y: Type.Number() })),
}
export const ShowtimeBody = closed({
  movieId: Code,
  screenId: Code,
  priceListId: Code,
  startsLocal: Local,
  which: Type.Optional(Type.Enum(['earlier', 'later'], { description: 'Only for a time the clock has twice.' })),
  minutes: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1440, description: 'Advertisements included; absent: the film’s length.' }),
  ),
  layoutVersion: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  format: Type.Optional(Type.Enum(['2D', '3D', 'IMAX'])),
  language: Type.Optional(Type.String({ maxLength: 35 })),
  captions: Type.Optional(Type.Boolean()),
  audioDescription: Type.Optional(Type.Boolean()),
  saleOpensLocal: Type.Optional(Local),
})

type Seats = { seats?: Static<typeof SeatBody>[] | undefined; patterns?: Static<typeof PatternBody>[] | undefined }

/** INVALID_REQUEST unless exactly one of the two is given. */
export function seatsOf({ seats, patterns }: Seats): LayoutSeat[] {
  if ((seats === undefined) === (patterns === undefined)) {
    throw new Problem('INVALID_REQUEST', { errors: [{ path: '/', message: 'give either seats or patterns' }] })
  }
  if (patterns !== undefined) return patterns.flatMap((pattern) => seatsOfPattern(pattern as RowPattern))
  return (seats ?? []).map((seat) => ({ section: '', kind: 'NORMAL', ...seat }))
}
