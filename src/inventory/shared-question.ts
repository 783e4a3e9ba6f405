// One question to the database for everybody who asks in the same turn, or while the question before it is under way: its answer was read after each of
// them asked, and a thousand readers cost as much as one.

export type SharedQuestion = {
  /** Resolves when a question sent after this call was answered for these inventories; throws what it threw. */
  about(inventoryIds: Iterable<number>): Promise<void>
  /** A question is waiting to be sent already. */
  readonly waiting: boolean
}

export function shareQuestion(ask: (inventoryIds: ReadonlySet<number>) => Promise<void>): SharedQuestion {
  let flying: Promise<void> = Promise.resolve()
  let next: { ids: Set<number>; answered: Promise<void> } | null = null

  return {
    get waiting() {
      return next !== null
    },
    about(inventoryIds) {
      if (next) {
        for (const id of inventoryIds) next.ids.add(id)
        return next.answered
      }
      const ids = new Set(inventoryIds)
      const answered = flying
        .then(() => new Promise(setImmediate))
        .then(() => {
          next = null
          return ask(ids)
        })
      next = { ids, answered }
      flying = answered.catch(() => {})
      return answered
    },
  }
}
