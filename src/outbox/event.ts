// What can be told about a booking, and how it looks on its way to whoever wants to know. docs/events.md describes each for consumers.

/** Facts in the past. Every change of a booking's status has its own; money that moved has its own too. */
export const EVENT_NAMES = [
  'BookingPending',
  'BookingConfirmed',
  'BookingPartlyCancelled',
  'BookingCancelled',
  'BookingFailed',
  'BookingExpired',
  'PaymentFailed',
  'PaymentCaptured',
  'PaymentVoided',
  'PaymentRefunded',
] as const

export type EventName = (typeof EVENT_NAMES)[number]

/** Plain JSON with public ids and money; no name, no address: what was told cannot be taken back. */
export type EventPayload = { [fact: string]: string | number | boolean | null | string[] | number[] | EventPayload }

export type OutboxEvent = {
  /** Stable over every repeat of the delivery. */
  id: string
  inventoryId: number
  bookingId: string
  /** 1, 2, 3 ... of its booking, without a gap. */
  seq: number
  name: EventName
  payload: EventPayload
  createdAt: string
}
