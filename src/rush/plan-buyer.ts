// Who comes and what they are going to do: everything a virtual buyer decides beforehand, from the seed and their number alone.
import { type Chance, chanceOf } from './chance.ts'

/** `centre`: the best place on the map, as everybody; `stubborn`: the middle of the house, taken or not, first. */
export type Taste = 'centre' | 'stubborn' | 'anywhere' | 'bestAvailable'

/** What they do with a hold. */
export type Ending =
  | 'pays'
  | 'declinedThenPays'
  | 'declined'
  | 'leavesUnpaid'
  | 'letsItLapse'
  | 'releases'
  | 'paysLate'
  | 'cancels'

export type Plan = {
  buyer: number
  /** After the opening. */
  arrivesMs: number
  /** Everybody comes from an address of their own. */
  address: string
  party: number
  taste: Taste
  /** How many holds they try before they give up. */
  tries: number
  /** Sends the hold twice at once: with one Idempotency-Key, or with none. */
  doubleClick: 'no' | 'sameKey' | 'noKey'
  paysTwice: boolean
  ending: Ending
  /** What goes wrong with the provider's message, if the provider is the sandbox. */
  fault: 'none' | 'twice' | 'captured'
  /** After a hold that came to nothing. */
  comesBack: boolean
  /** How long they look before they choose, and think before they pay. */
  thinkMs: number
  /** Leaves the waiting room after this time. */
  roomPatienceMs: number
  watches: boolean
}

/** How steeply the crowd falls off after the opening: at 3, half of it has come after a quarter of the time. */
const BURST = 3
const SECONDS_OF_PATIENCE_IN_ROOM = 600

const PARTIES = { 1: 14, 2: 44, 3: 12, 4: 18, 5: 4, 6: 4, 8: 4 }
const TASTES: Record<Taste, number> = { centre: 50, stubborn: 10, anywhere: 25, bestAvailable: 15 }
const ENDINGS: Record<Ending, number> = {
  pays: 62,
  declinedThenPays: 5,
  declined: 4,
  leavesUnpaid: 7,
  letsItLapse: 6,
  releases: 8,
  paysLate: 4,
  cancels: 4,
}

/** The same for the same seed, number and `seconds`. */
export function planBuyer(seed: number, buyer: number, seconds: number): Plan {
  const chance = chanceOf(seed, buyer)
  return {
    buyer,
    arrivesMs: arrival(chance, seconds),
    address: `10.${(buyer >> 16) & 255}.${(buyer >> 8) & 255}.${buyer & 255}`,
    party: Number(chance.choose(PARTIES)),
    taste: chance.choose(TASTES),
    tries: chance.whole(1, 5),
    doubleClick: chance.choose({ no: 88, sameKey: 6, noKey: 6 }),
    paysTwice: chance.next() < 0.1,
    ending: chance.choose(ENDINGS),
    fault: chance.choose({ none: 88, twice: 6, captured: 6 }),
    comesBack: chance.next() < 0.5,
    thinkMs: chance.whole(200, 2_500),
    roomPatienceMs: chance.next() < 0.1 ? chance.whole(2_000, 20_000) : SECONDS_OF_PATIENCE_IN_ROOM * 1000,
    watches: chance.next() < 0.02,
  }
}

// Independent arrivals under a falling intensity are a Poisson burst, given how many came.
function arrival(chance: Chance, seconds: number): number {
  const share = -Math.log(1 - chance.next() * (1 - Math.exp(-BURST))) / BURST
  return Math.floor(share * seconds * 1000)
}
