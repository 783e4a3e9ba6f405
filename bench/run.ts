// npm run bench -- [NAME ...] [--quick] [--json]: runs the named benchmarks (or all) and prints a table; exits 1 if a ratio is not reached.
import { parseArgs } from 'node:util'
import { type Bench, onStage, type Result } from './bench.ts'
import { bench as holdHot } from './hold-hot.ts'
import { bench as holdWins } from './hold-wins.ts'
import { bench as holdWinsHttp } from './hold-wins-http.ts'
import { bench as processes } from './processes.ts'
import { bench as refusals } from './refusals.ts'
import { bench as relay } from './relay.ts'
import { bench as seatMap } from './seat-map.ts'
import { bench as viewers } from './viewers.ts'
import { bench as waitingRoom } from './waiting-room.ts'

const BENCHES: Bench[] = [holdWins, holdWinsHttp, holdHot, refusals, seatMap, viewers, relay, waitingRoom, processes]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean' }, quick: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
})

const unknown = positionals.filter((name) => !BENCHES.some((bench) => bench.name === name))
if (values.help || unknown.length > 0) {
  if (unknown.length > 0) console.error(`There is no benchmark called ${unknown.join(', ')}.`)
  console.error('npm run bench -- [NAME ...] [--quick] [--json]')
  for (const { name, ours, reference, mustReach } of BENCHES)
    console.error(`  ${name.padEnd(16)} ${ours} against ${reference}; must reach ${mustReach}x`)
  process.exit(unknown.length > 0 ? 2 : 0)
}

const results: { bench: Bench; result: Result }[] = []
for (const bench of BENCHES) {
  if (positionals.length > 0 && !positionals.includes(bench.name)) continue
  console.error(`${bench.name}: ${bench.ours} against ${bench.reference}`)
  await onStage(
    values.quick ?? false,
    (line) => console.error(`  ${line}`),
    async (stage) => {
      results.push({ bench, result: await bench.run(stage) })
    },
  )
}

const output = values.json ? console.error : console.log
output('| benchmark | ours | reference | ratio | must reach | unit | rounds | notes |')
output('|---|---|---|---|---|---|---|---|')
for (const { bench, result } of results) {
  const { name, ours, reference, ratio, unit, rounds, notes } = result
  output(
    `| \`${name}\` | ${ours} | ${reference} | ${ratio.toFixed(1)} | ${bench.mustReach} | ${unit} | ${rounds} | ${Object.entries(
      notes,
    )
      .map(([key, value]) => `${key} ${value}`)
      .join(', ')} |`,
  )
}
if (values.json) for (const { result } of results) console.log(JSON.stringify(result))
if (results.some(({ bench, result }) => result.ratio < bench.mustReach)) process.exitCode = 1
