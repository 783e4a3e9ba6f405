// The seat boards of this process: one for each inventory that somebody looks at, kept up to date by one question for all of them.
// What is read here may be old by a moment and says so; only the database ever says yes.
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { openChangeLine } from './change-line.ts'
import { createFollowedBoard, type FollowedBoard, type Watcher } from './followed-board.ts'
import { followChanges, readBoard } from './read-board.ts'
import { createSeatBoard, microseconds, type SeatBoard } from './seat-board.ts'
import type { Blocking } from './seat-store.ts'
import { shareQuestion } from './shared-question.ts'

export type SeatBoardsOptions = {
  /** A pool of the boards' own, of two connections and their LISTEN. */
  connect: () => Sql
  /** How old a board may be that is read; 0: each reading asks the database first, and nothing is refused by a board. */
  freshMs?: number
}

export type Watching = { board(): SeatBoard; stop(): void }

/** `ageMs`: how long ago the database was asked. */
export type Looked = { board: SeatBoard; ageMs: number }

export type SeatBoards = ReturnType<typeof openSeatBoards>

const FRESH_MS = 100
// All watched boards are asked for by one statement (0.3 ms): with every notification lost they are late by this, and a look at them hardly ever waits.
const POLL_MS = 100
/** A board nobody watches is followed for so long after its last use. */
const HOT_MS = 5_000
const SPUR_GAP_MS = 50
const BOARDS_MAX = 500
// Beyond this the map is an untruth, and 503 the better answer.
const STALE_MAX_MS = 30_000
// After a failure it is not asked again for so long; whoever looks meanwhile gets the board as it is.
const FAILED_MS = 300
/** A refusal needs a board that is not older, and a hold that lasts this much longer. */
const REFUSAL_FRESH = 2.5
const SURE_MS = 1_000
// So many refusals of one show within a second make its board worth having: then most of the crowd is refused without the database.
const REFUSALS_MIN = 5
const CHANGES_MAX = 500
export function openSeatBoards({ connect, freshMs = FRESH_MS }: SeatBoardsOptions) {
  const entries = new Map<number, FollowedBoard>()
  const loading = new Map<number, Promise<FollowedBoard>>()
  const refusals = new Map<number, number>()
  const line = openChangeLine(connect, spur)
  const question = shareQuestion(ask)
  let failedMs = Number.NEGATIVE_INFINITY
  let spurred: NodeJS.Timeout | null = null
  let ticks = 0
  const polling = setInterval(poll, POLL_MS).unref()

  function poll(): void {
    ticks += 1
    if (ticks % (1_000 / POLL_MS) === 0) refusals.clear()
    const ids = hot()
    if (ids.length === 0) return
    line.listen()
    if (!question.waiting && !failing()) void question.about(ids).catch(() => {})
  }

  function hot(): number[] {
    const sinceMs = performance.now() - HOT_MS
    return [...entries.values()]
      .filter(({ usedMs, watched }) => watched || usedMs > sinceMs)
      .map(({ inventoryId }) => inventoryId)
  }

  // Several changes in a row are followed by one question.
  function spur(inventoryIds: number[] | null): void {
    let known = inventoryIds === null
    for (const id of inventoryIds ?? []) {
      const entry = entries.get(id)
      if (!entry) continue
      entry.hints += 1
      known = true
    }
    if (!known) return
    spurred ??= setTimeout(() => {
      spurred = null
      void question.about(hot()).catch(() => {})
    }, SPUR_GAP_MS).unref()
  }

  /** Brings these boards up to date. */
  async function ask(inventoryIds: ReadonlySet<number>): Promise<void> {
    const asked = [...inventoryIds].map((id) => entries.get(id)).filter((entry) => entry !== undefined)
    if (asked.length === 0) return
    const hints = asked.map((entry) => entry.hints)
    const sentMs = performance.now()
    const known = asked.map(({ inventoryId, board }) => ({ inventoryId, version: board.version }))
    const answers = await line.ask((sql) => followChanges(sql, known, CHANGES_MAX)).catch(failed)
    const answeredMs = performance.now()
    const found = new Map(answers.map((answer) => [answer.inventoryId, answer]))
    for (const [at, entry] of asked.entries()) {
      const answer = found.get(entry.inventoryId)
      if (!answer) forget(entry)
      else if (entry.absorb(answer, { sentMs, answeredMs })) entry.seenHints = hints[at] ?? 0
      else await reload(entry)
    }
    failedMs = Number.NEGATIVE_INFINITY
  }

  const failing = () => performance.now() - failedMs < FAILED_MS

  function failed(error: unknown): never {
    failedMs = performance.now()
    throw error
  }

  /** NOT_FOUND when there is no such inventory. */
  function load(inventoryId: number): Promise<FollowedBoard> {
    const underway = loading.get(inventoryId)
    if (underway) return underway
    const loaded = read(inventoryId)
      .then((fresh) => {
        const entry = createFollowedBoard(inventoryId, fresh)
        entries.set(inventoryId, entry)
        evict()
        return entry
      })
      .finally(() => loading.delete(inventoryId))
    loading.set(inventoryId, loaded)
    return loaded
  }

  async function read(inventoryId: number) {
    const sentMs = performance.now()
    const row = await line.ask((sql) => readBoard(sql, inventoryId)).catch(failed)
    if (!row) throw new Problem('NOT_FOUND')
    const board = createSeatBoard(row, microseconds(row.readAt))
    return { board, sale: row, sentMs, answeredMs: performance.now() }
  }

  async function reload(entry: FollowedBoard): Promise<void> {
    const { hints } = entry
    entry.replace(await read(entry.inventoryId))
    entry.seenHints = hints
  }

  function forget(entry: FollowedBoard): void {
    entries.delete(entry.inventoryId)
    entry.drop()
  }

  // A Map remembers the order of insertion: the first is the one not used for longest.
  function use(entry: FollowedBoard): FollowedBoard {
    entry.usedMs = performance.now()
    entries.delete(entry.inventoryId)
    entries.set(entry.inventoryId, entry)
    return entry
  }

  function evict(): void {
    for (const entry of entries.values()) {
      if (entries.size <= BOARDS_MAX) return
      if (!entry.watched) forget(entry)
    }
  }

  function isFresh(entry: FollowedBoard, ageMaxMs: number): boolean {
    return entry.hints === entry.seenHints && entry.ageMs() < ageMaxMs
  }

  /** Fresh, or while the database is away as it was last seen, for some seconds. */
  async function current(inventoryId: number): Promise<FollowedBoard> {
    const entry = entries.get(inventoryId)
    if (!entry) return load(inventoryId)
    if (isFresh(entry, freshMs)) {
      entry.advance()
      return entry
    }
    if (!failing()) {
      const answered = await question.about([inventoryId]).then(
        () => true,
        () => false,
      )
      if (answered) return entries.get(inventoryId) ?? load(inventoryId)
    }
    if (entry.ageMs() > STALE_MAX_MS) throw new Problem('DATABASE_UNAVAILABLE', { retryAfterSeconds: 1 })
    entry.advance()
    return entry
  }

  return {
    freshMs,

    /** The board as it is now, if it can be had without waiting. */
    glance(inventoryId: number): Looked | null {
      const entry = entries.get(inventoryId)
      if (!entry || !isFresh(entry, freshMs)) return null
      entry.advance()
      return { board: use(entry).board, ageMs: entry.ageMs() }
    },

    /** Throws NOT_FOUND, or DATABASE_UNAVAILABLE when it could not be asked for too long. */
    async look(inventoryId: number): Promise<Looked> {
      const entry = use(await current(inventoryId))
      return { board: entry.board, ageMs: entry.ageMs() }
    },

    /** Tells each later step; read the board in the turn in which this resolves, and nothing is missed in between. */
    async watch(inventoryId: number, watcher: Watcher): Promise<Watching> {
      const entry = use(await current(inventoryId))
      return { board: () => entry.board, stop: entry.watch(watcher) }
    },

    /**
     * The cheapest no: what stands in the way of this wish, or null when the database has to decide. True at the moment of the board, which is at
     * most 250 ms before the question; who holds anything here is never refused by it.
     */
    surelyTaken(inventoryId: number, customerId: string, seats: readonly string[]): Blocking[] | null {
      const entry = entries.get(inventoryId)
      if (!entry || seats.length === 0) return null
      if (!isFresh(use(entry), freshMs * REFUSAL_FRESH)) return null
      entry.advance()
      const { onSale, saleClosesAt } = entry.sale
      const closes = saleClosesAt === 'infinity' ? Number.POSITIVE_INFINITY : microseconds(saleClosesAt)
      if (!onSale || closes < entry.board.clockUs + SURE_MS * 1_000) return null
      return entry.board.surelyTaken(customerId, seats, SURE_MS)
    },

    /** The database refused a hold here: a show that many want is worth a board. */
    refused(inventoryId: number): void {
      if (freshMs === 0 || entries.has(inventoryId)) return
      const count = (refusals.get(inventoryId) ?? 0) + 1
      refusals.set(inventoryId, count)
      if (count === REFUSALS_MIN) void load(inventoryId).catch(() => {})
    },

    /** This process has committed a change: its own board is in doubt until it was followed, the others are told. */
    changed(inventoryId: number): void {
      spur([inventoryId])
      line.tell(inventoryId)
    },

    loaded: () => entries.size,
    /** How old the oldest board is that somebody watches. */
    lagMs: () => Math.max(0, ...[...entries.values()].filter(({ watched }) => watched).map((entry) => entry.ageMs())),

    async close(): Promise<void> {
      clearInterval(polling)
      if (spurred) clearTimeout(spurred)
      for (const entry of entries.values()) forget(entry)
      await line.close()
    },
  }
}
