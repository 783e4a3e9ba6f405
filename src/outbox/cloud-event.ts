// An event as the rest of the world reads it: CloudEvents 1.0, structured JSON.
import { formatSharded } from '#core/ids.ts'
import type { OutboxEvent } from './event.ts'

export const CLOUD_EVENT_TYPE = 'application/cloudevents+json; charset=UTF-8'

export type CloudEvent = {
  specversion: '1.0'
  /** The same over every repeat: what a consumer knows a duplicate by. */
  id: string
  source: string
  type: `holdfast.${OutboxEvent['name']}`
  /** The booking. */
  subject: string
  time: string
  datacontenttype: 'application/json'
  /** The extension of this name: 1, 2, 3 ... of its booking. */
  sequence: string
  sequencetype: 'Integer'
  data: OutboxEvent['payload']
}

/** `source` is the installation's PUBLIC_URL. */
export function cloudEvent(event: OutboxEvent, source: string): CloudEvent {
  return {
    specversion: '1.0',
    id: event.id,
    source,
    type: `holdfast.${event.name}`,
    subject: subjectOf(event),
    time: event.createdAt,
    datacontenttype: 'application/json',
    sequence: String(event.seq),
    sequencetype: 'Integer',
    data: event.payload,
  }
}

export function subjectOf({ inventoryId, bookingId }: Pick<OutboxEvent, 'inventoryId' | 'bookingId'>): string {
  return formatSharded('book', inventoryId, bookingId)
}
