// alone: it measures how long the event loop is held up.
// A hundred people who want their PDF at the same moment: everybody gets it, and nobody else's request waits for it.
import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '#core/problem.ts'
import { openPdf } from '#test/tickets/open-files.ts'
import { SHEET } from '#test/tickets/sheet.ts'
import { drawTickets } from './ticket-pdf.ts'
import { createTicketPrinter } from './ticket-printer.ts'

const ASKERS = 100
const sheetOf = (number: number) => ({ ...SHEET, reference: `REF${number}` })

async function worstDelayMs(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  // It measures from one turn of the loop to the next.
  await sleep(20)
  await work()
  await sleep(20)
  delay.disable()
  return delay.max / 1e6
}

test(`${ASKERS} bookings at once are printed beside the event loop; drawn in it they hold it up`, async (t) => {
  const printer = createTicketPrinter()
  t.after(() => printer.close())
  await printer.print(sheetOf(-1))
  const began = performance.now()
  const beside = await worstDelayMs(() =>
    Promise.all(Array.from({ length: ASKERS }, (_, number) => printer.print(sheetOf(number)))),
  )
  const tookMs = performance.now() - began
  // The control: the same work where requests are answered.
  const inside = await worstDelayMs(() =>
    Promise.all(Array.from({ length: 10 }, (_, number) => drawTickets(sheetOf(number)))),
  )
  t.diagnostic(
    `${ASKERS} PDFs in ${tookMs.toFixed(0)} ms; the loop stood still for ${beside.toFixed(0)} ms at most, ${inside.toFixed(0)} ms with 10 drawn in it`,
  )
  assert.ok(beside < 100, `the loop stood still for ${beside} ms`)
  assert.ok(inside > 3 * beside, `control: ${inside} ms`)
})

test('the same booking asked for a hundred times is drawn once; a changed one is drawn anew', async (t) => {
  const printer = createTicketPrinter()
  t.after(() => printer.close())
  const copies = await Promise.all(Array.from({ length: ASKERS }, () => printer.print(SHEET)))
  assert.equal(new Set(copies).size, 1)
  assert.equal(await printer.print({ ...SHEET }), copies[0])
  const changed = await printer.print({ ...SHEET, title: 'Sunrise' })
  assert.match((await openPdf(changed)).pages[0]?.text ?? '', /Sunrise/)
})

test('more than can be printed in time are asked to come again', async (t) => {
  const printer = createTicketPrinter()
  const asked = Array.from({ length: 260 }, (_, number) => printer.print(sheetOf(number)))
  const refused = await Promise.allSettled(asked.slice(220))
  for (const outcome of refused)
    assert.ok(
      outcome.status === 'rejected' && outcome.reason instanceof Problem && outcome.reason.code === 'OVERLOADED',
    )
  const rest = Promise.allSettled(asked)
  await printer.close()
  const states = (await rest).map(({ status }) => status)
  assert.ok(states.includes('rejected'))
  t.diagnostic(`${states.filter((state) => state === 'fulfilled').length} printed before it closed`)
})

test('a document that cannot be drawn fails alone; a thread that ends or hangs is replaced', async (t) => {
  const printer = createTicketPrinter()
  t.after(() => printer.close())
  const [bad, good] = await Promise.allSettled([
    printer.print({ ...SHEET, timeZone: 'Mars/Olympus' }),
    printer.print(SHEET),
  ])
  assert.equal(bad.status, 'rejected')
  assert.equal(good.status, 'fulfilled')
  for (const [name, script] of Object.entries({
    ends: `process.exit(1)`,
    throws: `throw new Error('broken')`,
    hangs: `for (;;);`,
  })) {
    // The first document of this thread meets the fault; the next one gets a thread of its own, and the fault again: each fails alone.
    const source = `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { ${script} })`
    const thread = new URL(`data:text/javascript,${encodeURIComponent(source)}`)
    const sick = createTicketPrinter({ thread, drawWithinMs: 300 })
    for (const number of [1, 2]) await assert.rejects(sick.print(sheetOf(number)), /ended|broken|too long/, name)
    await sick.close()
  }
})
