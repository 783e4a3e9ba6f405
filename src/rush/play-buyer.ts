// One virtual buyer's evening, from the door to the way home.
import { chanceOf } from './chance.ts'
import { enterRoom, leaveRoom } from './enter-room.ts'
import { type Ended, payHold } from './pay-hold.ts'
import type { Plan } from './plan-buyer.ts'
import { type Buyer, openSession, type Stage, tell } from './stage.ts'
import { count } from './tally.ts'
import { type Empty, trySeats } from './try-seats.ts'
import { watchSeats } from './watch-seats.ts'

/** What a buyer went home with, or without. */
export type Outcome = Ended | Empty | 'NO_SESSION'

const VISITS_MAX = 2
const BACK_AFTER_MS = 2_000
// After these a buyer who comes back has something to come back for.
const WORTH_ANOTHER_TRY = new Set<Outcome>(['RELEASED', 'LAPSED', 'DECLINED', 'PAID_LATE', 'GAVE_UP'])
// One in four closes the window without a word; the waiting room has to notice by itself.
const SILENT_SHARE = 0.25
/** Luck that is not part of the plan. */
const EVENING_STREAM = 1_000_000_007

/** `met` is told who has a session. */
export async function playBuyer(plan: Plan, seed: number, stage: Stage, met: (buyer: Buyer) => void): Promise<void> {
  const chance = chanceOf(seed ^ EVENING_STREAM, plan.buyer)
  count(stage.tally().counts, 'arrived')
  const buyer = await openSession(stage, plan, chance)
  if (buyer) met(buyer)
  const closeWindow = buyer && plan.watches ? watchSeats(buyer, plan.address) : null
  const outcome = buyer ? await spendEvening(buyer) : 'NO_SESSION'
  closeWindow?.()
  if (buyer && outcome !== 'PAID' && chance.next() >= SILENT_SHARE) await leaveRoom(buyer)
  count(stage.tally().outcomes, outcome)
  count(stage.tally().counts, 'home')
}

async function spendEvening(buyer: Buyer): Promise<Outcome> {
  const { stage, plan, chance } = buyer
  for (let visit = 1; ; visit++) {
    const outcome = await visitOnce(buyer)
    if (!plan.comesBack || visit === VISITS_MAX || !WORTH_ANOTHER_TRY.has(outcome) || stage.over()) return outcome
    await stage.pause(chance.aroundMs(BACK_AFTER_MS))
    // Whoever changed their mind once means it now.
    plan.ending = 'pays'
  }
}

async function visitOnce(buyer: Buyer): Promise<Outcome> {
  if (buyer.stage.room.on && !(await enterRoom(buyer))) return 'SHUT_OUT'
  const hold = await trySeats(buyer)
  if (typeof hold === 'string') return hold
  tell(buyer, 'holding')
  const ended = await payHold(buyer, hold)
  tell(buyer, 'holding', -1)
  return ended
}
