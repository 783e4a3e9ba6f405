// A visitor's place as server-sent events. The open connection stands for the page: it is looked after as if the page asked again and again, more often the
// nearer its turn is, and only what changed is sent.
import { setTimeout as sleep } from 'node:timers/promises'
import { HEARTBEAT_S, type QueueView } from './queue-view.ts'
import type { Ticket } from './ticket.ts'
import { visitQueue } from './visit-queue.ts'
import type { WaitingRooms } from './waiting-rooms.ts'

const LOOK_MIN_MS = 1_000

/** Ends when `signal` is aborted, and after LEFT. A store that is away is waited for. */
export async function* streamVisits(rooms: WaitingRooms, ticket: Ticket, signal: AbortSignal): AsyncGenerator<string> {
  yield 'retry: 2000\n\n'
  for (let told = ''; !signal.aborted; ) {
    const view = await visitQueue(rooms, ticket, null).catch(() => null)
    const text = view === null ? told : JSON.stringify(view)
    if (text !== told) yield `event: state\ndata: ${text}\n\n`
    else yield ': here\n\n'
    told = text
    if (view?.status === 'LEFT') return
    await sleep(lookAgainMs(view), undefined, { signal, ref: false }).catch(() => {})
  }
}

// A tenth of the wait that is left; everybody a little differently, so that a crowd does not ask in one moment.
function lookAgainMs(view: QueueView | null): number {
  const leftMs = view?.status === 'WAITING' ? (view.etaSeconds ?? 0) * 100 : HEARTBEAT_S * 300
  return Math.min(HEARTBEAT_S * 1_000, Math.max(LOOK_MIN_MS, leftMs)) * (0.9 + Math.random() * 0.2)
}
