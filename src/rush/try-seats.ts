// A buyer before the map: looks, chooses, tries to hold, looks again when others were faster, gives up in the end.
import { randomUUID } from 'node:crypto'
import type { PlacedHold, SeatStatuses } from './contract.ts'
import { enterRoom } from './enter-room.ts'
import type { HoldSeen } from './history.ts'
import { chooseSeats } from './house.ts'
import { askPatiently, type Buyer } from './stage.ts'
import { monotonicMs, type Reply } from './wire.ts'

/** Why a buyer goes home without a hold. */
export type Empty = 'SOLD_OUT' | 'GAVE_UP' | 'LIMITED' | 'SHUT_OUT' | 'CLOSED' | 'OVERLOADED'

// Nobody stands still for longer because they tried too often; they go home.
const LIMIT_WAIT_MAX_MS = 15_000
const LOOK_AGAIN_MS = 700
// What is held now may be free in a moment: a few look again before they believe that it is sold out.
const SOLD_OUT_LOOKS = 2

/** A hold that was written into the history, or why there is none. */
export async function trySeats(buyer: Buyer): Promise<HoldSeen | Empty> {
  const { stage, plan, chance } = buyer
  let wanted: string[] | null = null
  for (let attempt = 1, empty = 0; attempt <= plan.tries; attempt++) {
    if (stage.over()) return 'GAVE_UP'
    await stage.pause(chance.aroundMs(attempt === 1 ? plan.thinkMs : LOOK_AGAIN_MS))
    const seats = plan.taste === 'bestAvailable' ? null : (wanted ?? (await lookAndChoose(buyer, attempt)))
    if (plan.taste !== 'bestAvailable' && seats === null) {
      if (!buyer.map.letters.includes('H') || ++empty === SOLD_OUT_LOOKS) return 'SOLD_OUT'
      continue
    }
    const reply = await clickHold(buyer, seats)
    if (reply.hold) return reply.hold
    const refusal = whatNext(reply.answer)
    if (refusal === 'ROOM') {
      stage.room.on = true
      if (!(await enterRoom(buyer))) return 'SHUT_OUT'
    } else if (typeof refusal === 'number') await stage.pause(refusal)
    else if (refusal !== 'AGAIN') return refusal
    wanted = reply.answer.code === 'LEAVES_SINGLE_SEAT' ? (reply.answer.refusal.suggestion ?? null) : null
  }
  return 'GAVE_UP'
}

async function lookAndChoose(buyer: Buyer, attempt: number): Promise<string[] | null> {
  const { stage, plan, chance, map } = buyer
  const headers: Record<string, string> = map.etag === null ? {} : { 'if-none-match': map.etag }
  const reply = await askPatiently(buyer, () => buyer.ask('map', `${stage.show}/seats?view=status`, { headers }))
  if (reply.status === 200) buyer.map = { etag: reply.etag, letters: reply.read<SeatStatuses>().statuses }
  // Only the first wish is stubborn.
  const taste = plan.taste === 'stubborn' && attempt > 1 ? 'centre' : plan.taste
  if (!buyer.map.letters.includes('A')) return null
  return chooseSeats(stage.house, buyer.map.letters, { party: plan.party, taste }, chance)
}

type Clicked = { hold: HoldSeen | null; answer: Reply }

async function clickHold(buyer: Buyer, seats: string[] | null): Promise<Clicked> {
  const { stage, plan } = buyer
  const body = seats ? { seats } : { bestAvailable: { quantity: plan.party } }
  const admission: Record<string, string> = buyer.admission === null ? {} : { 'holdfast-admission': buyer.admission }
  const key: Record<string, string> = plan.doubleClick === 'sameKey' ? { 'idempotency-key': randomUUID() } : {}
  const click = () =>
    buyer.ask('hold', `${stage.show}/holds`, { method: 'POST', body, headers: { ...admission, ...key } })
  // Two clicks for the best seats without a key are two wishes, and the second may be better than the first.
  const twice = plan.doubleClick === 'sameKey' || (plan.doubleClick === 'noKey' && seats !== null)
  giveUpEarlier(buyer)
  const replies = twice ? await Promise.all([click(), click()]) : [await click()]
  const yes = replies.filter(({ status }) => status === 201 || status === 200)
  const holds = yes.map((reply) => noteHold(buyer, reply))
  const ids = [...new Set(holds.map(({ holdId }) => holdId))]
  if (ids.length > 1) stage.history.doubleClicksHeldTwice.push({ buyer: plan.buyer, holdIds: ids })
  return { hold: holds[0] ?? null, answer: yes[0] ?? (replies[0] as Reply) }
}

// A new hold replaces one's own that is not being paid.
function giveUpEarlier({ holds }: Buyer): void {
  for (const hold of holds) if (hold.bookingId === null) hold.endedMs ??= monotonicMs()
}

// Answered again, it is the same hold, and it was surely there when the first answer came.
function noteHold({ stage, plan, holds }: Buyer, reply: Reply): HoldSeen {
  const { holdId, seats, amount, remainingMs } = reply.read<PlacedHold>()
  const known = holds.find((hold) => hold.holdId === holdId)
  if (known) return known
  const hold: HoldSeen = {
    ...{ buyer: plan.buyer, holdId, seats, amountMinor: amount.amount, bookingId: null, endedMs: null },
    ...{ sentMs: reply.sentMs, gotMs: reply.gotMs, aliveUntilMs: reply.sentMs + remainingMs },
    ...{ paid: false, confirmedMs: null, cancelled: false },
  }
  holds.push(hold)
  stage.history.holds.push(hold)
  return hold
}

/** A number: wait so many milliseconds, then try again. */
function whatNext(reply: Reply): Empty | 'AGAIN' | 'ROOM' | number {
  switch (reply.code) {
    case 'ADMISSION_REQUIRED':
      return 'ROOM'
    case 'SALE_CLOSED':
      return 'CLOSED'
    case 'NOT_ENOUGH_SEATS':
      return 'SOLD_OUT'
  }
  const waitMs = (reply.refusal.retryAfterSeconds ?? 1) * 1000
  if (reply.status === 429) return waitMs > LIMIT_WAIT_MAX_MS ? 'LIMITED' : waitMs
  if (reply.status === 503 || reply.status === 0) return waitMs
  return 'AGAIN'
}
