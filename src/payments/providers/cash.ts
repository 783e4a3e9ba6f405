// Cash, or a card terminal that we have no wire to: the money is in the till when staff say so, and goes back by hand.
import { Problem } from '#core/problem.ts'
import type { MoveOutcome, Provider } from './provider.ts'

export const CASH = 'cash'

/** There is nobody to ask and no list to compare: the till is counted by people. A refund becomes a debt that staff pay out and then record. */
export function createCash(): Provider {
  const byHand = async (): Promise<MoveOutcome> => ({
    outcome: 'REFUSED',
    reason: 'cash goes back by hand: pay it out, then record it',
  })
  return {
    name: CASH,
    takenAtCounter: true,
    open: () => Promise.reject(new Error('cash has no payment page')),
    verify() {
      throw new Problem('SIGNATURE_INVALID')
    },
    lookUp: async () => null,
    async *list() {},
    capture: byHand,
    void: byHand,
    refund: byHand,
    expireSession: async ({ idempotencyKey }) => ({ outcome: 'DONE', reference: idempotencyKey }),
  }
}
