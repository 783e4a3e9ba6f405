// The boards' own line to the database, apart from the doors' pools: bounded questions, and LISTEN/NOTIFY between processes. NOTIFY is only a spur: it
// names inventories, what changed is read from the change rows, and with every notification lost a board is late by a poll.
import type { Sql } from '#database/connect.ts'

const CHANNEL = 'holdfast_changes'
// A line that hangs longer than this is given up and made anew; the boards have to be right again within 2 s.
const ANSWER_MAX_MS = 1_200
// Inside every transaction NOTIFY halved the throughput (4,719 -> 2,182/s), for those that notify commit one after another. So a process tells what it
// has committed afterwards, all of it at once, at most ten times a second.
const TELL_GAP_MS = 100
const OVERDUE = 'ETIMEDOUT'
const PAYLOAD_MAX_BYTES = 7_900

export type ChangeLine = ReturnType<typeof openChangeLine>

/** `heard` gets the inventories somebody changed; null: notifications may have been missed. */
export function openChangeLine(connect: () => Sql, heard: (inventoryIds: number[] | null) => void) {
  let sql = connect()
  let listening = false
  let answered = false
  let closed = false
  const toTell = new Set<number>()
  let telling: NodeJS.Timeout | null = null
  let toldMs = -TELL_GAP_MS

  /** Throws what the database threw, or ETIMEDOUT. */
  async function ask<T>(question: (sql: Sql) => Promise<T>): Promise<T> {
    const asked = sql
    let overdue: NodeJS.Timeout | undefined
    const patience = new Promise<never>((_, reject) => {
      overdue = setTimeout(
        () => reject(Object.assign(new Error('the database does not answer'), { code: OVERDUE })),
        ANSWER_MAX_MS,
      ).unref()
    })
    try {
      const answer = await Promise.race([question(asked), patience])
      answered = true
      return answer
    } catch (error) {
      if (asked === sql && isOverdue(error)) renew()
      throw error
    } finally {
      clearTimeout(overdue)
    }
  }

  // A connection that hangs would keep its place in the pool for ever; one that was lost the driver replaces by itself.
  function renew(): void {
    if (closed) return
    void sql.end({ timeout: 0 }).catch(() => {})
    sql = connect()
    listening = false
    answered = false
  }

  async function tell(): Promise<void> {
    telling = null
    toldMs = performance.now()
    const payload: string[] = []
    let bytes = 0
    for (const id of toTell) {
      const text = String(id)
      bytes += text.length + 1
      if (bytes > PAYLOAD_MAX_BYTES) break
      payload.push(text)
      toTell.delete(id)
    }
    if (toTell.size > 0) tellSoon()
    await ask((line) => line`select pg_notify(${CHANNEL}, ${payload.join()})`).catch(() => {})
  }

  function tellSoon(): void {
    if (closed) return
    telling ??= setTimeout(tell, Math.max(0, toldMs + TELL_GAP_MS - performance.now())).unref()
  }

  return {
    ask,

    /**
     * Starts listening where that is not the case, once the line has answered: the driver tries for ever. It listens again by itself when only that
     * connection was cut.
     */
    listen(): void {
      if (listening || !answered || closed) return
      listening = true
      const listened = sql
      const onPayload = (payload: string) => heard(payload.split(',').map(Number))
      void listened
        .listen(CHANNEL, onPayload, () => heard(null))
        .catch(() => {
          if (listened === sql) listening = false
        })
    },

    /** Tells the other processes, soon and together with what else changes meanwhile. */
    tell(inventoryId: number): void {
      toTell.add(inventoryId)
      tellSoon()
    },

    async close(): Promise<void> {
      closed = true
      if (telling) clearTimeout(telling)
      await sql.end({ timeout: 1 }).catch(() => {})
    },
  }
}

function isOverdue(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === OVERDUE
}
