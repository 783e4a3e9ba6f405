// Puts a waiting room before the sale of the own system's show, as its operator would.
import { StartRefused } from '#database/start-refused.ts'
import type { Wire } from './wire.ts'

/** `activeMax`: buyers inside at a time. StartRefused when this system cannot. */
export async function openRoom(wire: Wire, adminKey: string, showId: string, activeMax: number): Promise<void> {
  const reply = await wire.ask('room', `/v1/admin/showtimes/${showId}/waiting-room`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${adminKey}` },
    body: { status: 'OPEN', activeMax },
  })
  if (reply.status >= 300 || reply.status === 0)
    throw new StartRefused(`The waiting room cannot be opened: ${reply.status} ${reply.code ?? ''}.`)
}
