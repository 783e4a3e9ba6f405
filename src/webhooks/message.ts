// What a receiver gets: the event as JSON, signed as Standard Webhooks says, under the event's id at every try.
import { signWebhook } from '#core/standard-webhooks.ts'
import { subjectOf } from '#outbox/cloud-event.ts'
import type { OutboxEvent } from '#outbox/event.ts'
import type { Message } from './post-message.ts'

export type Signing = {
  /** The present one first; during a rotation the one before signs along. */
  secrets: Buffer[]
  /** The database's time. */
  at: string
}

export function eventMessage(event: OutboxEvent, signing: Signing): Message {
  const { id, seq, name, createdAt, payload } = event
  return signed(
    id,
    { type: name, timestamp: createdAt, bookingId: subjectOf(event), sequence: seq, data: payload },
    signing,
  )
}

/** Tells of nothing; for a partner who wants to see whether something arrives. */
export function testMessage(id: string, signing: Signing): Message {
  return signed(id, { type: 'Test', timestamp: signing.at, data: {} }, signing)
}

function signed(id: string, content: Record<string, unknown>, { secrets, at }: Signing): Message {
  const body = Buffer.from(JSON.stringify(content))
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Holdfast-Webhooks',
    ...signWebhook(secrets, id, at, body),
  }
  return { headers, body }
}
