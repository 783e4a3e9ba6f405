// How endpoints and their deliveries look at the door.
import Type from 'typebox'
import { named, Time } from '#core/http.ts'
import { EVENT_NAMES } from '#outbox/event.ts'
import { type Endpoint, formatEndpointId } from './endpoint.ts'

export const EventNames = Type.Union(
  [Type.Array(Type.Enum([...EVENT_NAMES]), { minItems: 1, uniqueItems: true }), Type.Null()],
  {
    description: 'Which events; null: all, also those that come later.',
  },
)
export const Url = Type.String({ maxLength: 2_000, description: 'https, a host on the public internet, no user name.' })
export const Description = Type.String({ maxLength: 200 })
export const Status = Type.Enum(['ACTIVE', 'DISABLED'])

const OrNull = (schema: Type.TSchema) => Type.Union([schema, Type.Null()])
const endpoint = {
  id: Type.String(),
  url: Type.String(),
  description: Type.String(),
  events: EventNames,
  bookings: Type.Enum(['OWN', 'ALL'], { description: 'Whose: your own customers’, or with an admin key everybody’s.' }),
  status: Status,
  note: Type.Unsafe<string | null>(OrNull(Type.String({ description: 'Why it was disabled by us.' }))),
  failingSince: Type.Unsafe<string | null>(OrNull(Time)),
  previousSecretUntil: Type.Unsafe<string | null>(OrNull(Time)),
  createdAt: Time,
}
export const Webhook = named('Webhook', Type.Object(endpoint))
export const NewWebhook = named(
  'NewWebhook',
  Type.Object({ ...endpoint, secret: Type.String({ description: 'whsec_..., shown only here.' }) }),
)

export const WebhookDelivery = named(
  'WebhookDelivery',
  Type.Object({
    eventId: Type.String({ description: 'The webhook-id header, the same at every try.' }),
    type: Type.Enum([...EVENT_NAMES]),
    status: Type.Enum(['DUE', 'DELIVERED', 'DEAD']),
    attempts: Type.Integer(),
    nextAttemptAt: Type.Unsafe<string | null>(OrNull(Time)),
    lastStatus: Type.Unsafe<number | null>(OrNull(Type.Integer())),
    lastError: Type.Unsafe<string | null>(OrNull(Type.String())),
    createdAt: Time,
    endedAt: Type.Unsafe<string | null>(OrNull(Time)),
  }),
)

export function describeEndpoint({ id, allBookings, eventNames, previousUntil, keyId: _, ...same }: Endpoint) {
  return {
    ...same,
    id: formatEndpointId(id),
    events: eventNames,
    bookings: allBookings ? ('ALL' as const) : ('OWN' as const),
    previousSecretUntil: previousUntil,
  }
}
