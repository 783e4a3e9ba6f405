// Puts a waiting room before the sale of the own system's show, as its operator would: the first few seconds' crowd waits together and is drawn.
import { StartRefused } from '#database/start-refused.ts'
import type { Wire } from './wire.ts'

// After the doors of the rush open (rush.ts), so that the burst of the first seconds is in the draw, and who comes later queues behind it.
const DRAWN_IN_S = 6

/** `activeMax`: buyers inside at a time. StartRefused when this system cannot. */
export async function openRoom(wire: Wire, adminKey: string, showId: string, activeMax: number): Promise<void> {
  const reply = await wire.ask('room', `/v1/admin/showtimes/${showId}/waiting-room`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${adminKey}` },
    body: { status: 'PRE_QUEUE', activeMax, opensAt: Temporal.Now.instant().add({ seconds: DRAWN_IN_S }).toString() },
  })
  if (reply.status >= 300 || reply.status === 0)
    throw new StartRefused(`The waiting room cannot be opened: ${reply.status} ${reply.code ?? ''}.`)
}
