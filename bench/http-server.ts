// The server side of the HTTP benchmarks, a process of its own: the product's server twice, on two ports, over one PostgreSQL. The second differs in one
// part only: its combiner is the textbook design. As many processes share the ports as the third argument says, as PROCESSES does in the product.
// Prints one JSON line with the ports, the shows and tokens of customers, then serves until it is killed.
import cluster from 'node:cluster'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { buildApp, type Parts } from '#app.ts'
import { addCinema } from '#cinema/add-cinema.ts'
import { addCity } from '#cinema/add-city.ts'
import { addMovie } from '#cinema/add-movie.ts'
import { addScreen } from '#cinema/add-screen.ts'
import { seatsOfPattern } from '#cinema/row-pattern.ts'
import { scheduleShowtime } from '#cinema/schedule-showtime.ts'
import { addPriceList } from '#cinema/write-price-list.ts'
import { loadConfig } from '#config.ts'
import { createLog } from '#core/log.ts'
import { createMetrics } from '#core/metrics.ts'
import { connect, type Sql } from '#database/connect.ts'
import { noGate } from '#gate/gate.ts'
import { loadSecrets } from '#identity/secrets.ts'
import { signSession } from '#identity/session-token.ts'
import { type Combiner, createCombiner } from '#inventory/combiner.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { readPicture } from '#inventory/read-picture.ts'
import { openSeatBoards } from '#inventory/seat-boards.ts'
import { openProviders } from '#payments/providers/open-providers.ts'
import { loadTicketKey } from '#tickets/ticket-key.ts'
import { createTicketPrinter } from '#tickets/ticket-printer.ts'
import { openWaitingRooms } from '#waiting-room/waiting-rooms.ts'
import { addBareRoutes } from './bare-routes.ts'
import { textbookHold } from './reference/textbook.ts'

export type HttpStage = {
  oursPort: number
  referencePort: number
  /** Public ids of shows of 15 rows of 20 seats. */
  shows: string[]
  /** Session tokens, each of another customer. */
  tokens: string[]
}

const LANES = 3
const SCREENS = 10
const DAYS = 10
const SHOWS_A_DAY = 5

const address = JSON.parse(process.argv[2] ?? '{}')
const customers = Number(process.argv[3] ?? 1_000)
const processes = Number(process.argv[4] ?? 1)

if (cluster.isPrimary) await lead()
else await answer(Number(process.env.OURS_PORT), Number(process.env.REFERENCE_PORT))

async function lead(): Promise<void> {
  const sql = connect(address, { max: 2, name: 'bench' })
  const secrets = await loadSecrets(sql)
  const shows = await openHouse(sql)
  const [oursPort, referencePort] = [await freePort(), await freePort()]
  const env = { OURS_PORT: oursPort, REFERENCE_PORT: referencePort }
  await Promise.all(Array.from({ length: processes }, () => once(cluster.fork(env), 'message')))
  const tokens = Array.from(
    { length: customers },
    () => signSession(secrets.session, `cust_${randomUUID()}`, Date.now()).token,
  )
  console.log(JSON.stringify({ oursPort, referencePort, shows, tokens } satisfies HttpStage))
}

async function answer(oursPort: number, referencePort: number): Promise<void> {
  const sql = connect(address, { max: 10, name: 'holdfast-doors' })
  const hot = connect(address, { max: LANES + 1, name: 'holdfast-hot' })
  const ours = createCombiner(postgresStore(hot), { lanes: LANES, picture: (id) => readPicture(hot, id) })
  await serve(sql, ours, oursPort)
  await serve(sql, textbookEngine(connect(address, { max: 10, name: 'textbook' })), referencePort)
  process.send?.('ready')
}

async function serve(sql: Sql, combiner: Combiner, port: number): Promise<void> {
  const config = loadConfig({
    ...{ LOG_LEVEL: 'fatal', HOLD_ATTEMPTS_PER_MINUTE: '0' },
    ...{ SSE_CONNECTIONS_MAX: '100000', SSE_CONNECTIONS_PER_ADDRESS_MAX: '100000' },
  })
  const wake = () => {}
  const log = createLog(config.logLevel)
  const metrics = createMetrics()
  const parts: Parts = {
    config,
    log,
    metrics,
    sql,
    secrets: await loadSecrets(sql),
    redis: null,
    combiner,
    boards: openSeatBoards({ connect: () => connect(address, { max: 2, name: 'holdfast-boards' }) }),
    gate: noGate,
    providers: await openProviders({ sql, config, wake }),
    ticketKey: await loadTicketKey(sql),
    printer: createTicketPrinter(),
    waitingRooms: await openWaitingRooms({ sql, redis: null, log, metrics, config }),
    wake,
  }
  const app = await buildApp(parts)
  addBareRoutes(app)
  await app.listen({ host: '127.0.0.1', port, ...{ reusePort: true } })
}

// The textbook transaction behind the combiner's interface: everything else of the server stays as it is.
function textbookEngine(pool: Sql): Combiner {
  return {
    async place(request) {
      const decidedAt = new Date().toISOString()
      const expiresAt = new Date(Date.now() + request.ttlMs).toISOString()
      if (await textbookHold(pool, request)) return { outcome: 'HELD', holdId: request.holdId, expiresAt, decidedAt }
      return { outcome: 'UNAVAILABLE', blocking: request.seats.map((code) => ({ code, reason: 'held' })), decidedAt }
    },
    close: () => Promise.resolve(),
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  return port
}

async function openHouse(pool: Sql): Promise<string[]> {
  const cityId = await addCity(pool, { name: `Bench ${randomUUID()}`, country: 'DE' })
  const cinemaId = await addCinema(pool, {
    cityId,
    name: 'Bench',
    timeZone: 'Etc/UTC',
    currency: 'EUR',
    categories: [{ code: 'STANDARD', name: 'Standard' }],
  })
  const rule = {
    strategy: 'base_price',
    label: 'Standard',
    terms: { category: 'STANDARD', amountMinor: 1_400 },
  } as const
  const priceListId = await addPriceList(pool, { cinemaId, name: 'Bench', taxBasisPoints: 0, rules: [rule] })
  const movieId = await addMovie(pool, { title: 'Bench', year: 2026, minutes: 100 })
  const seats = seatsOfPattern({ rows: 15, seatsPerRow: 20, category: 'STANDARD' })
  const days = Array.from({ length: DAYS }, (_, day) =>
    new Date(Date.now() + (day + 1) * 86_400_000).toISOString().slice(0, 10),
  )
  const ids: string[] = []
  for (let screen = 1; screen <= SCREENS; screen++) {
    const screenId = await addScreen(pool, { cinemaId, name: `Screen ${screen}`, seats })
    for (const day of days) {
      for (let n = 0; n < SHOWS_A_DAY; n++) {
        const startsLocal = `${day}T${String(8 + n * 3).padStart(2, '0')}:00`
        const id = await pool.begin((tx) => scheduleShowtime(tx, { movieId, screenId, priceListId, startsLocal }))
        ids.push(`show_${id}`)
      }
    }
  }
  return ids
}
