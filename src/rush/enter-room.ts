// A buyer in the waiting room: takes a place, shows now and then that they are still there, and is let in, or is told that it is over.
import type { Queue } from './contract.ts'
import { askPatiently, type Buyer, tell } from './stage.ts'
import { monotonicMs } from './wire.ts'

const HEARTBEAT_S = 10
// The very first answer shows how it goes; a page looks again soon, then as often as it is told to.
const SOON_MS = 2_000

/** True: may try to hold, with `admission` if one was given. False: shut out, sold out, or out of patience. */
export async function enterRoom(buyer: Buyer): Promise<boolean> {
  const { stage, plan } = buyer
  const joined = await askPatiently(buyer, () =>
    buyer.ask('room', `${stage.show}/queue`, { method: 'POST', headers: {} }),
  )
  // A system without a waiting room has no such door.
  if (joined.status === 404) {
    stage.room.on = false
    return true
  }
  if (joined.status !== 200 && joined.status !== 201) return false
  let queue = joined.read<Queue>()
  buyer.ticket = queue.ticket
  const untilMs = monotonicMs() + plan.roomPatienceMs
  tell(buyer, 'inRoom')
  try {
    for (let look = 1; queue.status === 'PRE_QUEUE' || queue.status === 'WAITING'; look++) {
      if (stage.over() || monotonicMs() > untilMs) {
        await leaveRoom(buyer)
        return false
      }
      const everyMs = (queue.heartbeatSeconds ?? HEARTBEAT_S) * 1000
      await stage.pause(look === 1 ? Math.min(SOON_MS, everyMs) : everyMs)
      const reply = await askPatiently(buyer, () => buyer.ask('room', `/v1/queue/${queue.ticket}`))
      if (reply.status !== 200) return false
      queue = reply.read<Queue>()
    }
  } finally {
    tell(buyer, 'inRoom', -1)
  }
  buyer.admission = queue.admission ?? null
  return queue.status === 'ADMITTED'
}

/** Makes room for the next one. Some just close the window: the caller decides who. */
export async function leaveRoom(buyer: Buyer): Promise<void> {
  if (buyer.ticket !== null) await buyer.ask('room', `/v1/queue/${buyer.ticket}`, { method: 'DELETE' })
  buyer.ticket = null
  buyer.admission = null
}
