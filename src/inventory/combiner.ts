// One transaction for many buyers: hold requests that arrive while a lane's batch is on its way to the database go together in the next one.
// Measured on 2 cores with durable commits: one transaction a hold 500-900 holds/s, batches through lanes 8,500-14,000/s.
import { Problem } from '#core/problem.ts'
import type { SeatPicture } from './read-picture.ts'
import type { Blocking, PlaceOutcome, PlaceRequest, SeatStore } from './seat-store.ts'

export type CombinerOptions = {
  /** Batches on their way at once under load; an inventory always travels in the same lane, so lanes never wait for one another's row locks. */
  lanes?: number
  /** Requests a batch at most: larger ones win nothing and make everybody in them wait longer (256: 23,500, 384: 25,500, 512: 23,800 holds/s). */
  batchMax?: number
  /** Requests waiting in one lane at most; beyond it 503, early, instead of an answer nobody waits for any more. */
  laneLengthMax?: number
  /** Lets a long lane be cleared of what is hopeless by one read instead of many batches (see refuseHopeless). */
  picture?: (inventoryId: number) => Promise<SeatPicture | null>
  /** Called after each batch, for metrics. */
  onBatch?: (size: number) => void
}

export type Combiner = {
  /** Answers what the database decided, in order of arrival. Throws Problem OVERLOADED or DATABASE_UNAVAILABLE; then nothing is held. */
  place(request: PlaceRequest): Promise<PlaceOutcome>
  /** Refuses new requests and waits for those under way. */
  close(): Promise<void>
}

type Waiting = { request: PlaceRequest; resolve: (outcome: PlaceOutcome) => void; reject: (reason: unknown) => void }
type Lane = { queue: Waiting[]; flying: boolean }

const TRIES_MAX = 3
const RETRY_AFTER_S = 1
// Fewer than this do not fly beside another lane's batch at once: they wait a moment for its end and go together with everybody. A batch of a few
// costs PostgreSQL and us nearly as much as one of fifty (1,000 buyers in process: 123 batches of 244 this way, 155 of 194 without it).
const BESIDE_ANOTHER_MIN = 64
// The longest that moment may be, some batches long: a show whose lock is stuck must not hold up the others (B088).
const PATIENCE_MS = 25

export function createCombiner(store: SeatStore, options: CombinerOptions = {}): Combiner {
  const { lanes: laneCount = 3, batchMax = 384, laneLengthMax = 32_768, picture, onBatch } = options
  const lanes: Lane[] = Array.from({ length: laneCount }, () => ({ queue: [], flying: false }))
  const laneOf = ({ inventoryId }: PlaceRequest) => lanes[inventoryId % laneCount]
  const flights = new Set<Promise<void>>()
  let awake = false
  let patient = false
  let closed = false

  // After everything that arrives in this turn of the event loop, never on a timer: an idle system answers a single request at once.
  function wake(): void {
    if (awake) return
    awake = true
    setImmediate(() => {
      awake = false
      dispatch()
    })
  }

  function dispatch(impatient = false): void {
    const ready = lanes.filter((lane) => !lane.flying && lane.queue.length > 0)
    const quiet = flights.size === 0
    if (quiet && ready.reduce((sum, lane) => sum + lane.queue.length, 0) <= batchMax) {
      if (ready.length > 0) start(ready)
      return
    }
    const least = quiet || impatient ? 1 : BESIDE_ANOTHER_MIN
    for (const lane of ready) if (lane.queue.length >= least) start([lane])
    if (patient || ready.every((lane) => lane.flying)) return
    patient = true
    setTimeout(losePatience, PATIENCE_MS)
  }

  function losePatience(): void {
    patient = false
    dispatch(true)
  }

  function start(these: Lane[]): void {
    const flight = fly(these).then(() => {
      flights.delete(flight)
      wake()
    })
    flights.add(flight)
  }

  async function fly(these: Lane[]): Promise<void> {
    for (const lane of these) lane.flying = true
    const { batch, judgeOnly, later } = nextBatch(
      these.flatMap((lane) => lane.queue.splice(0)),
      batchMax,
    )
    onBatch?.(batch.length)
    // Only a lane that flies alone can have more waiting than a batch takes.
    if (these[0]) these[0].queue = later
    const deferred = await decide(store, batch, judgeOnly)
    for (const waiting of deferred.reverse()) laneOf(waiting.request)?.queue.unshift(waiting)
    for (const lane of these) {
      if (picture && lane.queue.length > batchMax) await refuseHopeless(lane, picture)
      lane.flying = false
    }
  }

  return {
    place(request) {
      const lane = laneOf(request)
      if (!lane || closed || lane.queue.length >= laneLengthMax) {
        return Promise.reject(new Problem('OVERLOADED', { retryAfterSeconds: RETRY_AFTER_S }))
      }
      return new Promise((resolve, reject) => {
        lane.queue.push({ request, resolve, reject })
        wake()
      })
    },
    async close() {
      closed = true
      while (flights.size > 0 || lanes.some((lane) => lane.queue.length > 0)) {
        await Promise.all(flights)
        await new Promise(setImmediate)
      }
    },
  }
}

// Takes the longest-waiting requests. One that shares a seat, or its customer, with an earlier one travels along to be judged only: it is refused if
// something stands in its way already, else it comes again, so nobody overtakes and no two requests of a batch can win one seat.
function nextBatch(queue: Waiting[], batchMax: number): { batch: Waiting[]; judgeOnly: Set<number>; later: Waiting[] } {
  const batch = queue.slice(0, batchMax)
  const judgeOnly = new Set<number>()
  const claimed = new Map<number, Set<string>>()
  batch.forEach(({ request }, index) => {
    const claims = claimed.get(request.inventoryId) ?? new Set<string>()
    claimed.set(request.inventoryId, claims)
    const before = claims.size
    // A customer is claimed beside the seats; the line break keeps it from being mistaken for a seat's label.
    claims.add(`\n${request.customerId}`)
    for (const seat of request.seats) claims.add(seat)
    if (claims.size < before + request.seats.length + 1) judgeOnly.add(index)
  })
  return { batch, judgeOnly, later: queue.slice(batchMax) }
}

/** Settles every request of the batch but those to be asked again, which it returns in order. Never throws. */
async function decide(store: SeatStore, batch: Waiting[], judgeOnly: ReadonlySet<number>): Promise<Waiting[]> {
  const requests = batch.map(({ request }) => request)
  for (let tries = 1; ; tries++) {
    try {
      const outcomes = await store.place(requests, judgeOnly)
      return settle(batch, outcomes)
    } catch (error) {
      const kind = kindOfFailure(error)
      // Asking again is safe even if the first call did commit: what it placed comes back as SAME with our own hold id.
      if ((kind === 'serialisation' || kind === 'connection') && tries < TRIES_MAX) continue
      if (batch.length === 1 || kind === 'connection') {
        for (const { reject } of batch) reject(problemOf(kind, error))
        return []
      }
      return decideApart(store, batch, kind)
    }
  }
}

// A batch that failed as a whole: one poisoned request must not refuse its neighbours. A lock that was not had concerns one inventory, so its
// requests stay together (each alone would wait for the same lock again); anything else is tried request by request.
async function decideApart(store: SeatStore, batch: Waiting[], kind: FailureKind): Promise<Waiting[]> {
  const inventories = new Set(batch.map(({ request }) => request.inventoryId))
  if (kind === 'timeout' && inventories.size === 1) {
    for (const { reject } of batch) reject(problemOf(kind, null))
    return []
  }
  const groups =
    kind === 'timeout'
      ? [...inventories].map((id) => batch.filter((w) => w.request.inventoryId === id))
      : batch.map((w) => [w])
  const deferred: Waiting[] = []
  for (const group of groups) {
    const { judgeOnly } = nextBatch(group, group.length)
    deferred.push(...(await decide(store, group, judgeOnly)))
  }
  return deferred
}

function settle(batch: Waiting[], outcomes: PlaceOutcome[]): Waiting[] {
  const deferred: Waiting[] = []
  batch.forEach((waiting, index) => {
    const outcome = outcomes[index]
    if (!outcome) waiting.reject(new Error('the store left a request without an answer'))
    else if (outcome.outcome === 'DEFERRED') deferred.push(waiting)
    else if (outcome.outcome === 'SAME' && outcome.holdId === waiting.request.holdId)
      waiting.resolve({ ...outcome, outcome: 'HELD' })
    else waiting.resolve(outcome)
  })
  return deferred
}

// Under a rush thousands wait for seats that are gone. The picture of the inventory most of them want is taken while they wait, so what it says was
// true between their asking and our answer, exactly as if the database had judged each: whoever wants a taken seat is refused with every seat that
// stood in the way. Who wants free seats only, pools, or has something there already, keeps the place in the lane.
// (Measured with 20,000 buyers for one show: 9,000 answers/s by batches alone, several times that with pictures.)
async function refuseHopeless(lane: Lane, picture: NonNullable<CombinerOptions['picture']>): Promise<void> {
  const waiting = new Map<number, number>()
  for (const { request } of lane.queue) waiting.set(request.inventoryId, (waiting.get(request.inventoryId) ?? 0) + 1)
  const [most] = [...waiting].reduce((a, b) => (b[1] > a[1] ? b : a))
  const asked = lane.queue.length
  const seen = await picture(most).catch(() => null)
  if (!seen?.onSale) return
  // Requests that came while the picture was taken stand behind `asked`: it is no answer to them.
  const refused: { resolve: Waiting['resolve']; outcome: PlaceOutcome }[] = []
  lane.queue = lane.queue.filter((waiting, index) => {
    const { request, resolve } = waiting
    if (index >= asked || request.inventoryId !== most || request.pools?.length) return true
    const blocking = blockingIn(seen, request.seats)
    if (!blocking || seen.customers.has(request.customerId)) return true
    refused.push({ resolve, outcome: { outcome: 'UNAVAILABLE', blocking, decidedAt: seen.asOf } })
    return false
  })
  // Thousands of answers take longer to hand out than the next batch takes to decide: they go out while it is with the database, which the driver
  // writes to in the coming turn of the event loop (measured: 150 of 410 ms).
  setImmediate(setImmediate, () => {
    for (const { resolve, outcome } of refused) resolve(outcome)
  })
}

function blockingIn(seen: SeatPicture, seats: string[]): Blocking[] | null {
  let blocking: Blocking[] | null = null
  for (const code of seats) {
    const inTheWay = seen.seats.get(code)
    if (inTheWay === null) continue
    blocking ??= []
    blocking.push(inTheWay ?? { code, reason: 'unknown' })
  }
  return blocking
}

type FailureKind = 'serialisation' | 'timeout' | 'connection' | 'other'

function kindOfFailure(error: unknown): FailureKind {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === '40001' || code === '40P01') return 'serialisation'
  if (code === '55P03' || code === '57014') return 'timeout'
  if (/^(CONNECT|ECONN|ENOENT|EPIPE|57P0|08|53300)/.test(code)) return 'connection'
  return 'other'
}

function problemOf(kind: FailureKind, error: unknown): unknown {
  if (kind === 'timeout' || kind === 'serialisation')
    return new Problem('OVERLOADED', { retryAfterSeconds: RETRY_AFTER_S })
  if (kind === 'connection') return new Problem('DATABASE_UNAVAILABLE', { retryAfterSeconds: RETRY_AFTER_S })
  return error
}
