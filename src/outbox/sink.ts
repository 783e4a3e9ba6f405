// Where events go: what the relay asks of a sink, and the sink inside this process that hands them to consumers.
import type { EventName, OutboxEvent } from './event.ts'

/** An event that was not accepted, and why. Those after it of the same booking must not have been delivered either. */
export type Undelivered = { id: string; error: string }

export interface Sink {
  readonly name: string
  /**
   * Events of any number of bookings, each booking's in order; at most 20 s. Answers those that it will not take; throws when it is away as a whole,
   * or does not know what arrived. An event can come again, so what stands behind a sink must know it by its id or by its effect.
   */
  send(events: OutboxEvent[]): Promise<Undelivered[]>
  close?(): Promise<void>
}

/** Does something about some events, in a transaction of its own, and does it once however often the event comes. */
export type Consumer = {
  name: string
  wants: readonly EventName[]
  consume(event: OutboxEvent): Promise<void>
}

// One consumer's transaction each: a handful at once shares the pool with the requests of buyers.
const BOOKINGS_AT_ONCE = 4

export function inProcessSink(consumers: Consumer[]): Sink {
  return {
    name: 'in-process',
    async send(events) {
      const queues = [...Map.groupBy(events, (event) => `${event.inventoryId}/${event.bookingId}`).values()]
      const undelivered: Undelivered[] = []
      const lane = async () => {
        for (let queue = queues.shift(); queue; queue = queues.shift()) {
          const failure = await deliver(consumers, queue)
          if (failure) undelivered.push(failure)
        }
      }
      await Promise.all(Array.from({ length: BOOKINGS_AT_ONCE }, lane))
      return undelivered
    },
  }
}

/** Stops at the first failure of the booking. */
async function deliver(consumers: Consumer[], events: OutboxEvent[]): Promise<Undelivered | null> {
  for (const event of events) {
    for (const consumer of consumers.filter(({ wants }) => wants.includes(event.name))) {
      try {
        await consumer.consume(event)
      } catch (error) {
        return { id: event.id, error: `${consumer.name}: ${error instanceof Error ? error.message : String(error)}` }
      }
    }
  }
  return null
}
