// What a person types: `holdfast start`, `holdfast import cinema-feed FILE` ... One table of commands; help is made from it.
import cluster from 'node:cluster'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { printAudit } from '#admin/print-audit.ts'
import { runAudit } from '#admin/run-audit.ts'
import { importCinemaFeed } from '#cinema/import-feed.ts'
import { type Config, configTable, loadConfig } from '#config.ts'
import { createLog } from '#core/log.ts'
import type { Metrics } from '#core/metrics.ts'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { StartRefused } from '#database/start-refused.ts'
import { startHoldfast, withFreePort } from '#main.ts'
import { rushCommand } from '#rush/rush-command.ts'
import { RUSH_OPTIONS } from '#rush/rush-order.ts'
import { verifyDraw } from '#waiting-room/verify-draw.ts'
import { reportThroughParent } from './metrics-of-processes.ts'
import { type Database, joinDatabase } from './open-database.ts'
import { startProcesses } from './processes.ts'
import { readyText } from './ready-text.ts'
import { reconcileCommand } from './reconcile-command.ts'
import { untilStopped } from './until-stopped.ts'

/** `value` names what follows the option; null: nothing does. */
type Option = { value: string | null; help: string }
type Values = Record<string, string | boolean | undefined>
type Command = {
  name: string
  args: string
  summary: string
  options?: Readonly<Record<string, Option>>
  run(config: Config, args: string[], values: Values): Promise<void>
}

const say = (sentence: string) => console.error(sentence)

const COMMANDS: Command[] = [
  {
    name: 'start',
    args: '',
    summary: 'Everything in one process: the database if none is configured, the server, the workers. Ctrl-C stops it.',
    run: start,
  },
  {
    name: 'serve',
    args: '',
    summary: 'Only the server, for several processes on one DATABASE_URL.',
    run: (config) => serve(config, ['doors']),
  },
  {
    name: 'worker',
    args: '',
    summary: 'Only the workers: sweeping, relaying, settling.',
    run: (config) => serve(config, ['workers']),
  },
  {
    name: 'migrate',
    args: '',
    summary: 'Bring the database to this version and end.',
    run: (config) =>
      withDatabase(config, async (_sql, database) => {
        const { migrations, functions } = await database.migrate()
        const applied = [...migrations, ...functions]
        console.log(applied.length === 0 ? 'The database is current.' : `Applied ${applied.join(', ')}.`)
      }),
  },
  {
    name: 'import',
    args: 'cinema-feed FILE',
    summary: 'Take a cinema’s box-office feed; every row that is not sound is reported with its place and reason.',
    run: runImport,
  },
  {
    name: 'queue',
    args: 'verify FILE|URL',
    summary: 'Work the published draw of a waiting room out again; ends with 1 when it is not what its seed gives.',
    async run(_config, [verb, source]) {
      if (verb !== 'verify' || !source)
        throw new StartRefused('Say which draw to check: holdfast queue verify FILE|URL')
      console.log(await verifyDraw(source))
    },
  },
  {
    name: 'audit',
    args: '',
    summary: 'Check every invariant on the live database; ends with 1 when one does not hold.',
    run: (config) => withDatabase(config, audit),
  },
  {
    name: 'reconcile',
    args: '[SINCE [UNTIL]]',
    summary:
      'Compare payments, the providers’ lists and the bookings (RFC 3339; the last day); ends with 1 when a person must act.',
    run: (config, args) => withDatabase(config, (sql) => reconcileCommand(config, sql, args)),
  },
  {
    name: 'rush',
    args: '--own-system | --url URL',
    summary:
      'Play opening night with thousands of virtual buyers, and audit it; ends with 1 when anything was sold twice.',
    options: RUSH_OPTIONS,
    run: (_config, args, values) => rushCommand(values, args),
  },
  {
    name: 'config',
    args: '',
    summary: 'The environment variables there are, as a table.',
    run: async () => console.log(configTable()),
  },
  {
    name: 'help',
    args: '',
    summary: 'This.',
    run: async () => console.log(helpText()),
  },
]

async function start(config: Config): Promise<void> {
  if (cluster.isWorker) return answerAtTheDoor(config)
  if (config.processes === 1) return serve(config, ['doors', 'workers'])
  if (config.redisUrl.length === 0)
    say('Without REDIS_URL each process counts limits for itself, and waiting rooms stay off.')
  const settled = await withFreePort(config)
  const holdfast = await startProcesses(settled, createLog(config.logLevel), say)
  console.log(await readyText(holdfast, settled))
  await untilStopped(() => holdfast.close())
}

// One of several processes: quiet, for the one above speaks to people. Without it there is no reason to stay (its end disconnects us, which ends us).
async function answerAtTheDoor(config: Config): Promise<void> {
  let metrics: Metrics | null = null
  const reportMetrics = reportThroughParent(() => metrics)
  const wake = (worker: string) => void process.send?.({ wake: worker })
  const holdfast = await startHoldfast({
    config,
    log: createLog(config.logLevel),
    roles: ['doors'],
    under: { wake, reportMetrics },
  })
  metrics = holdfast.metrics
  process.send?.({ listening: true })
  await untilStopped(
    () => holdfast.close(),
    () => {},
  )
}

async function serve(config: Config, roles: ('doors' | 'workers')[]): Promise<void> {
  const log = createLog(config.logLevel)
  const holdfast = await startHoldfast({ config, log, roles, say })
  console.log(holdfast.url ? await readyText(holdfast, config) : 'Holdfast is working; it opens no port.')
  await untilStopped(() => holdfast.close())
}

// Changes nothing, also not the schema: what is audited is the database as it is.
async function audit(sql: Sql): Promise<void> {
  const [row] = await sql<{ there: boolean }[]>`select to_regclass('inventories') is not null as there`
  if (!row?.there)
    throw new StartRefused('This database has nothing of Holdfast in it yet; holdfast migrate or start makes it one.')
  const report = await runAudit(sql)
  console.log(printAudit(report))
  if (report.findings.length > 0) process.exitCode = 1
}

async function runImport(config: Config, [kind, file]: string[]): Promise<void> {
  if (kind !== 'cinema-feed' || !file) throw new StartRefused('Say what to import: holdfast import cinema-feed FILE')
  const text = readText(file)
  await withDatabase(config, async (sql, database) => {
    await database.migrate()
    const { imported, unchanged, cancelled, skipped, notes } = await importCinemaFeed(sql, text)
    console.table({ imported, unchanged })
    console.log(`${cancelled} cancelled sessions are not put on sale; ${skipped.length} rows are not taken:`)
    for (const { section, row, id, reason } of skipped) console.log(`  ${section}[${row}] ${id}: ${reason}`)
    for (const note of notes) console.log(note)
  })
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new StartRefused(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

async function withDatabase(config: Config, work: (sql: Sql, database: Database) => Promise<void>): Promise<void> {
  const database = await joinDatabase(config, say)
  try {
    const sql = database.connect({ max: 2, name: 'holdfast-command' })
    await work(sql, database).finally(() => sql.end({ timeout: 2 }))
  } finally {
    await database.close()
  }
}

function helpText(): string {
  const width = Math.max(...COMMANDS.map(({ name, args }) => `${name} ${args}`.length))
  const lines = COMMANDS.map(({ name, args, summary }) => `  ${`${name} ${args}`.padEnd(width)}  ${summary}`)
  return `Holdfast holds a seat for one buyer while they pay, and sells it to nobody else.\n\nholdfast COMMAND\n${lines.join('\n')}\n
Configuration is by environment: holdfast config.`
}

async function runCli(argv: string[]): Promise<void> {
  const known = { help: { type: 'boolean', short: 'h' } } as const
  const [name = 'help'] = parseArgs({ args: argv, allowPositionals: true, strict: false, options: known }).positionals
  const command = COMMANDS.find((one) => one.name === name)
  if (!command) throw new StartRefused(`There is no command "${name}"; holdfast help shows those there are.`)
  const { options = {} } = command
  const types = Object.entries(options).map(([option, { value }]) => [option, { type: value ? 'string' : 'boolean' }])
  const given = { ...Object.fromEntries(types), ...known }
  const { values, positionals } = parseArgs({ args: argv, allowPositionals: true, strict: false, options: given })
  if (values.help && name !== 'help') return console.log(commandHelp(command))
  for (const [option, value] of Object.entries(values)) checkOption(option, value, options)
  const args = positionals.slice(positionals.indexOf(name) + 1)
  await command.run(loadConfig(), args, values as Values)
}

function checkOption(name: string, value: unknown, options: Readonly<Record<string, Option>>): void {
  if (name === 'help') return
  const option = options[name]
  if (!option)
    throw new StartRefused(`There is no option --${name}; configuration is by environment (holdfast config).`)
  if (option.value && (typeof value !== 'string' || value === ''))
    throw new StartRefused(`--${name} needs a value: --${name} ${option.value}`)
  if (!option.value && value !== true) throw new StartRefused(`--${name} takes no value.`)
}

function commandHelp({ name, args, summary, options = {} }: Command): string {
  const rows = Object.entries(options).map(([option, { value, help }]) => [`--${option} ${value ?? ''}`, help] as const)
  const width = Math.max(0, ...rows.map(([option]) => option.length))
  const lines = rows.map(([option, help]) => `  ${option.padEnd(width)}  ${help}`)
  return `holdfast ${name} ${args}\n\n${[summary, ...(lines.length > 0 ? ['', ...lines] : [])].join('\n')}`
}

runCli(process.argv.slice(2)).catch((error: unknown) => {
  // What a person can mend is one sentence; anything else is ours and needs its stack.
  console.error(error instanceof StartRefused || error instanceof Problem ? error.message : error)
  process.exitCode = 1
})
