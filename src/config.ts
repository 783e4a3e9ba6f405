// The environment becomes one frozen, typed object: the only reader of process.env, and the table that checks, help and docs are made from.
import { StartRefused } from '#database/start-refused.ts'
import {
  adminKey,
  databaseUrl,
  isBroker,
  isOrigin,
  isProxy,
  list,
  mailbox,
  parseUrl,
  type Reader,
  redisUrls,
  smtpUrl,
  text,
  topic,
  url,
  whole,
  words,
} from './config-readers.ts'

export type Environment = Record<string, string | undefined>

type Variable<N extends string, T> = Reader<T> & { name: N; default: string; description: string; secret: boolean }

// Node's timers fire at once beyond this.
const TIMER_MAX_MS = 2 ** 31 - 1
const DAY_MS = 86_400_000

/** Every variable there is, in the order in which people look for them. */
export const VARIABLES = [
  setting('PORT', '3000', whole(0, 65_535), 'Where the server listens; 0 takes any free port.'),
  // A first start comes with demo data and payments that cost nothing: nobody in the network should find it by accident.
  setting('HOST', '127.0.0.1', text(255), 'The address it listens on; 0.0.0.0 is every network of the machine.'),
  setting(
    'PROCESSES',
    '1',
    whole(1, 256),
    'How many processes answer at the door; more than one should share a Redis.',
  ),
  setting('PUBLIC_URL', '', url(), 'How buyers reach it; empty: http://localhost:PORT. Required in production.'),
  secret('DATABASE_URL', '', databaseUrl(), 'A PostgreSQL of your own, 15 or later; empty: the embedded one.'),
  secret(
    'REDIS_URL',
    '',
    redisUrls(),
    'Redis for several processes: one server, or nodes of a cluster with commas; empty: none.',
  ),
  setting(
    'GATE',
    'none',
    words('none', 'redis'),
    'Whether Redis tells buyers early that others are after their seats.',
  ),
  setting('GATE_TTL_MS', '15000', whole(1_000, 15_000), 'How long a seat claimed at the gate is kept from others.'),
  setting('HOLDFAST_DATA', './var', text(4096), 'The data folder of the embedded PostgreSQL.'),
  secret('HOLDFAST_ADMIN_KEY', '', adminKey(), 'API key of the first administrator; empty: made and printed once.'),
  setting('HOLDFAST_MODE', 'development', words('development', 'production'), 'Production loads no demo data unasked.'),
  setting('DEMO_DATA', 'on', words('on', 'off'), 'Whether an empty database gets cinemas and showtimes to try.'),
  setting('HOLD_TTL_MS', '600000', whole(1, DAY_MS), 'How long a hold lasts.'),
  setting('HOLD_EXTENSIONS_MAX', '1', whole(0, 100), 'How often a hold can be extended.'),
  setting('HOLD_LIFE_MAX_MS', '1800000', whole(1, DAY_MS), 'The longest a hold can last, extended and checked out.'),
  setting('PAYMENT_SESSION_TTL_MS', '480000', whole(1, DAY_MS), 'How long a buyer has on the payment page.'),
  setting('PAYMENT_BUFFER_MS', '120000', whole(0, DAY_MS), 'How much longer the hold lasts than that page.'),
  setting(
    'SWEEP_INTERVAL_MS',
    '15000',
    whole(0, TIMER_MAX_MS),
    'Between sweeps of lapsed holds, for display; 0: never.',
  ),
  setting('SEATS_PER_HOLD_MAX', '8', whole(1, 100), 'Seats in one hold.'),
  setting('SEATS_PER_CUSTOMER_MAX', '8', whole(1, 1_000), 'Seats a customer may have in a showtime, held and booked.'),
  setting(
    'HOLD_ATTEMPTS_PER_MINUTE',
    '5',
    whole(0, 1_000_000),
    'Hold attempts of a customer in a minute, of an address 20 times as many; 0: no limits at all, for load tests.',
  ),
  setting('PARTNER_ATTEMPTS_PER_MINUTE', '600', whole(0, 1_000_000), 'Hold attempts of a partner key; 0: no limit.'),
  setting('SESSIONS_PER_MINUTE', '300', whole(0, 1_000_000), 'Sessions opened from one address; 0: no limit.'),
  setting('ADMISSION_TTL_MS', '900000', whole(60_000, DAY_MS), 'How long an admission from the waiting room lasts.'),
  setting(
    'WAITING_ROOM_AUTO_HOLDS_PER_SECOND',
    '0',
    whole(0, 1_000_000),
    'Hold attempts of one show that open its waiting room by themselves; 0: none do.',
  ),
  setting('RELAY_INTERVAL_MS', '500', whole(1, TIMER_MAX_MS), 'Between two looks for events to deliver.'),
  setting(
    'OUTBOX_RETENTION_DAYS',
    '7',
    whole(7, 3_650),
    'How long an event stays after every sink acknowledged it, for replays.',
  ),
  setting('KAFKA_BROKERS', '', list('host:port', isBroker), 'Kafka brokers that are told every event; empty: none.'),
  setting('KAFKA_TOPIC', 'booking-events', topic(), 'The topic they are told in; it has to be there already.'),
  setting('KAFKA_TLS', 'off', words('on', 'off'), 'Whether the brokers are spoken to over TLS.'),
  setting('KAFKA_SASL', 'off', words('off', 'PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'), 'How Kafka knows us.'),
  setting('KAFKA_USERNAME', '', text(255), 'Who we are to Kafka, with KAFKA_SASL.'),
  secret('KAFKA_PASSWORD', '', text(1_000), 'The password that goes with it.'),
  setting(
    'WEBHOOK_ALLOW_PRIVATE',
    'off',
    words('on', 'off'),
    'Lets webhooks go to http and to addresses inside your network; for trying out only.',
  ),
  setting('PAYMENT_PROVIDER_TIMEOUT_MS', '10000', whole(100, 30_000), 'How long a provider’s answer is waited for.'),
  setting('LATE_PAYMENT', 'refund', words('refund', 'rescue'), 'Late money: back, or for its seats if all are free.'),
  setting('RECONCILE_INTERVAL_MS', '60000', whole(0, TIMER_MAX_MS), 'Between looks at quiet payments; 0: never.'),
  setting(
    'RECONCILE_PENDING_AFTER_MS',
    '900000',
    whole(0, DAY_MS),
    'How old a quiet payment is when it is asked about.',
  ),
  setting('ALLOW_SANDBOX', 'off', words('off', 'on'), 'Whether production takes payments that cost nothing.'),
  setting('SETTLE_INTERVAL_MS', '500', whole(1, TIMER_MAX_MS), 'Between two looks for money to move.'),
  secret('SMTP_URL', '', smtpUrl(), 'The mail server; empty: a page in development (/mailbox), no mail in production.'),
  setting('MAIL_FROM', '', mailbox(), 'Who mails come from; empty: tickets@ the host of PUBLIC_URL.'),
  setting('MAIL_LINK', '', url(), 'Where mails lead: a page that is given /BOOKING_ID; empty: no link.'),
  setting(
    'REMINDER_BEFORE_MS',
    '86400000',
    whole(0, 30 * DAY_MS),
    'How long before a show its reminder goes; 0: none.',
  ),
  setting('LOYALTY_POINTS_PER_UNIT', '1', whole(0, 1_000), 'Points for each whole unit of a currency paid; 0: none.'),
  setting('HTTP_BODY_MAX_BYTES', '65536', whole(1_024, 100_000_000), 'The largest request body.'),
  setting(
    'REQUESTS_IN_FLIGHT_MAX',
    '10000',
    whole(1, 1_000_000),
    'Requests under way in a process; at half of it new holds are refused, at all of it the rest.',
  ),
  setting(
    'OVERLOAD_LAG_MS',
    '2000',
    whole(1, TIMER_MAX_MS),
    'The slowest an event loop may turn; at half of it new holds are refused, at all of it the rest.',
  ),
  setting('SSE_CONNECTIONS_MAX', '10000', whole(0, 1_000_000), 'Open seat streams of a process.'),
  setting(
    'SSE_CONNECTIONS_PER_ADDRESS_MAX',
    '50',
    whole(0, 1_000_000),
    'Open seat streams of an address (IPv6: a /64).',
  ),
  setting('LOG_LEVEL', 'info', words('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), 'What is logged.'),
  setting('TRUST_PROXY', '', list('addresses', isProxy), 'Proxies whose X-Forwarded-For is believed; empty: none.'),
  setting('CORS_ORIGINS', '', list('origins', isOrigin), 'Other sites whose pages may call the API; empty: none.'),
]

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<Camel<Tail>>}`
  : Lowercase<S>
type ValueOf<V> = V extends Variable<string, infer T> ? T : never
type Known = (typeof VARIABLES)[number]

/** HOLD_TTL_MS is `holdTtlMs`, and so on. */
export type Config = { readonly [V in Known as Camel<V['name']>]: ValueOf<V> }

/** Throws StartRefused naming the variable, the value given and what is allowed. An unknown HOLDFAST_ variable is only warned about. */
export function loadConfig(env: Environment = process.env, warn: (sentence: string) => void = console.error): Config {
  const values: Record<string, unknown> = {}
  for (const one of VARIABLES) values[camel(one.name)] = readVariable(one, env)
  const known = new Set<string>(VARIABLES.map((one) => one.name))
  for (const name of Object.keys(env).filter((key) => key.startsWith('HOLDFAST_') && !key.startsWith('HOLDFAST_TEST_')))
    if (!known.has(name)) warn(`${name} is set, and Holdfast has no such variable; see \`holdfast config\`.`)
  const config = values as Config
  return Object.freeze({ ...config, ...dependentValues(config, env) })
}

function readVariable(one: Known, env: Environment): unknown {
  const given = env[one.name]?.trim() ?? ''
  const value = one.read(given || one.default)
  if (value === undefined)
    throw new StartRefused(
      `${one.name} is ${one.secret ? 'set to something' : `"${given}"`}, but must be ${one.allowed}.`,
    )
  return value
}

// What one variable means for another.
function dependentValues(config: Config, env: Environment): Partial<Config> {
  if (config.holdTtlMs > config.holdLifeMaxMs)
    throw new StartRefused(
      `HOLD_TTL_MS is ${config.holdTtlMs}, but must not exceed HOLD_LIFE_MAX_MS (${config.holdLifeMaxMs}).`,
    )
  const checkoutMs = config.paymentSessionTtlMs + config.paymentBufferMs
  if (checkoutMs > config.holdLifeMaxMs)
    throw new StartRefused(
      `PAYMENT_SESSION_TTL_MS and PAYMENT_BUFFER_MS are ${checkoutMs} together, but must not exceed HOLD_LIFE_MAX_MS (${config.holdLifeMaxMs}).`,
    )
  if (config.kafkaSasl !== 'off' && !(config.kafkaUsername && config.kafkaPassword))
    throw new StartRefused(`KAFKA_SASL is ${config.kafkaSasl}, but KAFKA_USERNAME and KAFKA_PASSWORD are not both set.`)
  if (config.gate === 'redis' && config.redisUrl.length === 0)
    throw new StartRefused('GATE is redis, but REDIS_URL is not set.')
  const production = config.holdfastMode === 'production'
  if (production && !config.publicUrl)
    throw new StartRefused(
      'PUBLIC_URL is not set, but in production it must be the address buyers use, such as https://tickets.example.com.',
    )
  return {
    publicUrl: config.publicUrl || `http://localhost:${config.port}`,
    mailFrom: config.mailFrom || `tickets@${parseUrl(config.publicUrl)?.hostname ?? 'localhost'}`,
    demoData: production && !env.DEMO_DATA ? 'off' : config.demoData,
  }
}

/** The table of the documentation and of `holdfast config`: Markdown, and even columns for the terminal. */
export function configTable(): string {
  const rows = VARIABLES.map((one) => [one.name, one.default || '(empty)', one.description, one.allowed])
  const cells = [['variable', 'default', 'what for', 'allowed'], ...rows]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const [head = [], ...body] = cells
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n')
}

function setting<N extends string, T>(name: N, byDefault: string, reader: Reader<T>, description: string) {
  return { name, default: byDefault, description, secret: false, ...reader } satisfies Variable<N, T>
}

/** Its value is never shown. */
function secret<N extends string, T>(name: N, byDefault: string, reader: Reader<T>, description: string) {
  return { ...setting(name, byDefault, reader, description), secret: true } satisfies Variable<N, T>
}

function camel(name: string): string {
  return name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}
