// The rules of the house that a machine can check: who may call whom, who writes which table, how long a file is, where the environment is read.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'

const ROOT = new URL('../..', import.meta.url).pathname
const FILE_LINES_MAX = 250

// Everyone may call core and database; beyond those, only what stands here. ARCHITECTURE.md draws the same table.
const MAY_CALL: Record<string, string[]> = {
  core: [],
  database: [],
  redis: [],
  gate: ['redis'],
  limits: ['redis', 'identity'],
  'waiting-room': ['redis', 'identity', 'inventory'],
  webhooks: ['outbox', 'identity'],
  mail: ['outbox', 'tickets', 'bookings', 'identity'],
  loyalty: ['outbox', 'identity'],
  rush: ['inventory'],
  inventory: [],
  pricing: [],
  promotions: ['identity'],
  identity: [],
  idempotency: ['identity'],
  outbox: [],
  tickets: ['identity', 'outbox'],
  holds: ['inventory', 'identity', 'pricing', 'gate', 'limits'],
  bookings: ['promotions', 'inventory', 'tickets', 'outbox', 'pricing', 'identity'],
  payments: [
    'promotions',
    'holds',
    'bookings',
    'inventory',
    'outbox',
    'identity',
    'idempotency',
    'tickets',
    'pricing',
    'waiting-room',
    'gate',
    'limits',
  ],
  cinema: ['holds', 'inventory', 'pricing', 'identity', 'idempotency', 'limits', 'waiting-room'],
  admin: ['identity', 'payments', 'bookings', 'inventory', 'holds', 'outbox', 'waiting-room'],
}
// main.ts, app.ts, cli.ts and what stands beside them put the rooms together.
const AT_THE_TOP = ''

const OWNER: Record<string, string> = {
  inventories: 'inventory',
  seats: 'inventory',
  seat_blocks: 'inventory',
  pools: 'inventory',
  holds: 'inventory',
  hold_pools: 'inventory',
  booked_seats: 'inventory',
  booked_pools: 'inventory',
  inventory_changes: 'inventory',
  inventory_descriptions: 'cinema',
  cities: 'cinema',
  cinemas: 'cinema',
  seat_categories: 'cinema',
  screens: 'cinema',
  layouts: 'cinema',
  layout_seats: 'cinema',
  movies: 'cinema',
  price_lists: 'cinema',
  price_rules: 'cinema',
  showtimes: 'cinema',
  server_secrets: 'identity',
  api_keys: 'identity',
  idempotency_keys: 'idempotency',
  bookings: 'bookings',
  booking_lines: 'bookings',
  payments: 'payments',
  settlements: 'payments',
  payment_callbacks: 'payments',
  worklist: 'payments',
  sandbox_payments: 'payments',
  sandbox_movements: 'payments',
  sandbox_callbacks: 'payments',
  sandbox_fault_rules: 'payments',
  reconciliations: 'payments',
  reconciliation_differences: 'payments',
  promo_codes: 'promotions',
  gift_vouchers: 'promotions',
  promotion_uses: 'promotions',
  tickets: 'tickets',
  calendar_entries: 'tickets',
  mails: 'mail',
  reminder_rounds: 'mail',
  loyalty_entries: 'loyalty',
  outbox: 'outbox',
  outbox_sinks: 'outbox',
  outbox_deliveries: 'outbox',
  webhook_endpoints: 'webhooks',
  webhook_deliveries: 'webhooks',
  waiting_rooms: 'waiting-room',
  admission_purchases: 'waiting-room',
  schema_migrations: 'database',
  schema_functions: 'database',
}
// The outbox numbers a booking's events on the booking's own row, under the lock its caller holds: no other statement may.
const EXCEPTIONS = new Set(['src/outbox/append.ts bookings'])

type Source = { path: string; room: string; text: string }

function sources(folder: string, endings: string[]): Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => {
      const path = relative(ROOT, join(entry.parentPath, entry.name))
      const [, room = '', ...rest] = path.split('/')
      return { path, room: rest.length > 0 ? room : AT_THE_TOP, text: readFileSync(join(ROOT, path), 'utf8') }
    })
}

const SRC = sources('src', ['.ts'])
const PRODUCT = SRC.filter(({ path }) => !path.endsWith('.test.ts'))
const SQL = sources('src', ['.sql'])

test('imports go downwards only: trades to holds, holds to inventory, everyone to core', () => {
  const wrong: string[] = []
  for (const { path, room, text } of PRODUCT) {
    if (room === AT_THE_TOP) continue
    assert.ok(MAY_CALL[room], `${room} is a new room: say in this table and in ARCHITECTURE.md whom it may call`)
    for (const [, called = ''] of text.matchAll(/from '#([a-z-]+)\//g)) {
      if (called !== room && !['core', 'database'].includes(called) && !MAY_CALL[room]?.includes(called))
        wrong.push(`${path} -> ${called}`)
    }
    if (room === 'core' && /from '#(?!core|config)/.test(text)) wrong.push(`${path}: core needs nobody`)
    if (/from '#(app|main)\.ts'/.test(text)) wrong.push(`${path} reaches up`)
    for (const [, target = ''] of text.matchAll(/from '(\.\.\/[^']+)'/g)) {
      const room2 = relative(join(ROOT, 'src'), join(ROOT, path, '..', target)).split('/')[0]
      if (room2 !== room) wrong.push(`${path} reaches into ${target} by a relative path`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('every table is written by one room', () => {
  const wrong: string[] = []
  for (const { path, room, text } of [...PRODUCT, ...SQL]) {
    for (const [, table = ''] of text.matchAll(
      /\b(?:insert into|update|delete from|truncate)\s+([a-z_]+)\b(?=[\s(])/g,
    )) {
      const owner = OWNER[table]
      if (owner && owner !== room && !EXCEPTIONS.has(`${path} ${table}`))
        wrong.push(`${path} writes ${table}, which is ${owner}'s`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('every table of the migrations has an owner and a sentence', () => {
  const missing: string[] = []
  for (const { path, text } of sources('migrations', ['.sql'])) {
    const lines = text.split('\n')
    lines.forEach((line, at) => {
      const table = /^create table ([a-z_]+)/.exec(line)?.[1]
      if (!table) return
      if (!OWNER[table]) missing.push(`${path}: ${table} has no owner`)
      if (!lines[at - 1]?.startsWith('--')) missing.push(`${path}: no sentence over ${table}`)
    })
  }
  assert.deepEqual(missing, [])
})

test('the environment is read in src/config.ts only', () => {
  const readers = PRODUCT.filter(({ path, text }) => path !== 'src/config.ts' && /process\.env/.test(text)).map(
    ({ path }) => path,
  )
  assert.deepEqual(readers, [])
})

test(`a file says first what it is for and has at most ${FILE_LINES_MAX} lines`, () => {
  const files = [
    ...PRODUCT,
    ...SQL,
    ...sources('bench', ['.ts']),
    ...sources('demo', ['.ts']),
    ...sources('tools', ['.mjs']),
  ]
  const silent = files.filter(({ text }) => !/^(#!.*\n)?(\/\/|--|\/\*)/.test(text)).map(({ path }) => path)
  const long = files.filter(({ text }) => text.split('\n').length > FILE_LINES_MAX + 1).map(({ path }) => path)
  assert.deepEqual({ silent, long }, { silent: [], long: [] })
})

test('no room is called utils, common, shared, services, types or helpers', () => {
  const vague = [...SRC, ...SQL].filter(({ path }) =>
    /\/(utils?|common|shared|services?|types|helpers?|misc)(\/|\.)/.test(path),
  )
  assert.deepEqual(
    vague.map(({ path }) => path),
    [],
  )
})

test('no any, no enum, no skipped test', () => {
  const wrong: string[] = []
  for (const { path, text } of [...SRC, ...sources('test', ['.ts']), ...sources('bench', ['.ts'])]) {
    if (path === 'test/house/rules.test.ts') continue
    if (/^\s*(export )?(const )?enum /m.test(text)) wrong.push(`${path}: enum`)
    if (/\b(test|it|describe)\.(skip|only|todo)\(|\{ skip: true/.test(text)) wrong.push(`${path}: a skipped test`)
    if (PRODUCT.some((file) => file.path === path) && /: any\b|as any\b|<any>/.test(text)) wrong.push(`${path}: any`)
  }
  assert.deepEqual(wrong, [])
})

test('decisions about time ask the database: the application reads its own clock only where nothing is sold by it', () => {
  // Session ends, log lines and the memory store's text form of a time it is given.
  const allowed = ['src/identity/', 'src/core/log.ts', 'src/inventory/memory-inventory.ts']
  const readers = PRODUCT.filter(
    ({ path, text }) => /Date\.now\(\)|new Date\(/.test(text) && !allowed.some((start) => path.startsWith(start)),
  )
  assert.deepEqual(
    readers.map(({ path }) => path),
    [],
  )
})

test('ARCHITECTURE.md names every room and every table', () => {
  const map = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
  const rooms = Object.keys(MAY_CALL).filter((room) => !map.includes(`\`${room}/\``))
  const tables = Object.keys(OWNER).filter((table) => !new RegExp(`\\b${table}\\b`).test(map))
  assert.deepEqual({ rooms, tables }, { rooms: [], tables: [] })
})
