// Transactions over postgres.js, each on a connection of its own while it lasts.
//
// The driver's own `begin` failed us twice under load and faults (3.4.9): a BEGIN that is queued behind a running query of a busy pool is refused with
// UNSAFE_TRANSACTION (seen: 1 of 50 callbacks at once answered 500), and when the connection is lost inside a transaction, the ROLLBACK it sends is written
// to a socket that is gone, which ends the process. Here a transaction gets a connection that nobody else uses, waits in line for one, and one that was
// lost is thrown away: nothing more is sent on it.
import { setTimeout as pause } from 'node:timers/promises'
import type postgres from 'postgres'

type Sql = postgres.Sql
type Work<Result> = (tx: postgres.ReservedSql) => Result | Promise<Result>

export type Transactions = {
  /**
   * Commits what `work` did and answers its result; whatever it throws rolls back and is thrown on. Waits for a free connection, first come first
   * served. `mode` is what may stand behind BEGIN, such as `isolation level repeatable read read only`.
   */
  begin<Result>(work: Work<Result>): Promise<Result>
  begin<Result>(mode: string, work: Work<Result>): Promise<Result>
  /** Waits for the transactions under way, at most `timeout` seconds, then closes; new ones are refused. */
  end(options?: { timeout?: number }): Promise<void>
}

/** The parts of the driver's connection that are needed to notice its loss; it shows itself to `onexecute` only. */
type Connection = {
  execute(query: { reject(error: unknown): void }): unknown
  onclose?: ((error: Error) => void) | null
}

/** `open` makes a pool of one connection. */
export function createTransactions(open: () => Sql, max: number): Transactions {
  const idle: Sql[] = []
  const all = new Set<Sql>()
  const waiting: ((connection: Sql) => void)[] = []
  const running = new Set<Promise<void>>()
  let ended = false

  function add(): Sql {
    const connection = open()
    all.add(connection)
    return connection
  }

  async function take(): Promise<Sql> {
    const free = idle.pop()
    if (free) return free
    if (all.size < max) return add()
    return new Promise((resolve) => waiting.push(resolve))
  }

  function giveBack(connection: Sql): void {
    const next = waiting.shift()
    if (next) next(connection)
    else idle.push(connection)
  }

  function throwAway(connection: Sql): void {
    all.delete(connection)
    void connection.end({ timeout: 0 }).catch(() => {})
    const next = waiting.shift()
    if (next) next(add())
  }

  async function begin<Result>(mode: string, work: Work<Result>): Promise<Result> {
    if (ended) throw Object.assign(new Error('the pool is closed'), { code: 'CONNECTION_ENDED' })
    const connection = await take()
    let broken = true
    try {
      const outcome = await run(connection, mode, work)
      broken = outcome.lost
      if ('error' in outcome) throw outcome.error
      return outcome.result
    } finally {
      if (broken) throwAway(connection)
      else giveBack(connection)
    }
  }

  return {
    begin<Result>(first: string | Work<Result>, second?: Work<Result>) {
      const doing = typeof first === 'string' ? begin(first, second as Work<Result>) : begin('', first)
      const settled = doing.then(
        () => {},
        () => {},
      )
      running.add(settled)
      void settled.then(() => running.delete(settled))
      return doing
    },
    async end({ timeout = 5 } = {}) {
      ended = true
      const patience = new AbortController()
      await Promise.race([
        Promise.all(running),
        pause(timeout * 1_000, null, { signal: patience.signal }).catch(() => {}),
      ])
      patience.abort()
      await Promise.all([...all].map((connection) => connection.end({ timeout: 0 })))
    },
  }
}

type Outcome<Result> = { lost: boolean } & ({ result: Result } | { error: unknown })

async function run<Result>(connection: Sql, mode: string, work: Work<Result>): Promise<Outcome<Result>> {
  const tx = await connection.reserve()
  const link = { lost: null as Error | null }
  try {
    await tx.unsafe(`begin ${mode}`, [], { onexecute: (one: Connection) => watch(one, link) } as object).execute()
    const result = await work(tx)
    await tx`commit`
    tx.release()
    return { lost: false, result }
  } catch (error) {
    if (link.lost) return { lost: true, error }
    // A failed ROLLBACK means the same as a lost connection: the server rolls back by itself, and the connection is not used again.
    const rolledBack = await tx`rollback`.then(
      () => true,
      () => false,
    )
    if (rolledBack) tx.release()
    return { lost: !rolledBack, error }
  }
}

// From its loss on the connection refuses what is still sent on it, instead of writing to a socket that is no more.
function watch(connection: Connection, link: { lost: Error | null }): void {
  const { execute } = connection
  connection.onclose = (error) => {
    link.lost = error
    connection.execute = (query) => {
      query.reject(error)
      return true
    }
  }
  connection.execute = execute
}
