// One seat board with what it takes to keep it right: when the database was last asked, who watches, and a timer for the next hold that lapses.
import type { Followed, SaleState } from './read-board.ts'
import { type BoardStep, microseconds, ownersOf, type SeatBoard } from './seat-board.ts'

/** Gets what happened, in order; null: the board was loaded anew, the whole picture counts. */
export type Watcher = (steps: BoardStep[] | null) => void

/** This process' clock when an answered question was sent and when its answer was here; the database's clock was read in between. */
type Asked = { sentMs: number; answeredMs: number }
/** What was read with it. */
type Reading = Asked & { board: SeatBoard; sale: SaleState }

export type FollowedBoard = ReturnType<typeof createFollowedBoard>

const TIMER_MAX_MS = 60_000

export function createFollowedBoard(inventoryId: number, first: Reading) {
  let { board, sale, sentMs, answeredMs } = first
  const watchers = new Set<Watcher>()
  let lapseTimer: NodeJS.Timeout | null = null

  // Never ahead of the database's clock: counted from the moment its answer was here.
  function clockUs(atMs: number): number {
    return microseconds(sale.readAt) + Math.max(0, atMs - answeredMs) * 1_000
  }

  function tell(steps: BoardStep[] | null): void {
    if (steps === null || steps.length > 0) for (const watcher of watchers) watcher(steps)
    if (lapseTimer) clearTimeout(lapseTimer)
    lapseTimer = null
    const endUs = board.nextEndUs()
    if (watchers.size === 0 || endUs === Number.POSITIVE_INFINITY) return
    const waitMs = Math.max(0, endUs - clockUs(performance.now())) / 1_000
    lapseTimer = setTimeout(onLapse, Math.min(waitMs + 1, TIMER_MAX_MS)).unref()
  }

  function onLapse(): void {
    lapseTimer = null
    advance()
    // It was only a part of a long way.
    if (!lapseTimer) tell([])
  }

  /** Lets lapse what has lapsed since. */
  function advance(): void {
    const toUs = clockUs(performance.now())
    if (toUs > board.clockUs) tell(board.moveClock(toUs))
  }

  return {
    inventoryId,
    usedMs: first.sentMs,
    /** Changes hinted at, and how many of them the last question saw. */
    hints: 0,
    seenHints: 0,
    get board() {
      return board
    },
    get sale() {
      return sale
    },
    get watched() {
      return watchers.size > 0
    },
    ageMs: () => performance.now() - sentMs,
    advance,

    /** Takes what a question brought; false when the change rows do not lead from what the board has to what the inventory is. */
    absorb(answer: Followed, times: Asked): boolean {
      const owners = ownersOf(answer)
      const steps: BoardStep[] = []
      for (const change of answer.changes) {
        const applied = board.apply(change, owners)
        if (!applied) return false
        steps.push(...applied)
      }
      if (board.version !== answer.version) return false
      // Behind what it must have been when the question was sent: the database's clock was set back. Behind the board only: it was read before a
      // hold lapsed here.
      const readUs = microseconds(answer.readAt)
      const setBack = readUs < clockUs(times.sentMs)
      steps.push(...board.moveClock(setBack ? readUs : Math.max(readUs, board.clockUs)))
      sale = answer
      sentMs = times.sentMs
      answeredMs = times.answeredMs
      tell(steps)
      return true
    },

    /** Takes a board that was loaded anew. */
    replace(reading: Reading): void {
      board = reading.board
      sale = reading.sale
      sentMs = reading.sentMs
      answeredMs = reading.answeredMs
      tell(null)
    },

    /** Answers how to stop. */
    watch(watcher: Watcher): () => void {
      watchers.add(watcher)
      tell([])
      return () => {
        watchers.delete(watcher)
      }
    },

    drop(): void {
      if (lapseTimer) clearTimeout(lapseTimer)
      lapseTimer = null
    },
  }
}
