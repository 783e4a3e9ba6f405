// Positions and estimates of a line that moves steadily are within a fifth of what happens, with and without people who give up.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estimateWaitMs } from './estimate-wait.ts'
import { memoryStore } from './memory-store.ts'
import type { Room } from './room-store.ts'

const NOTHING = { score: null, admission: null }
const STEP_MS = 500

type Line = { inside: number; stayMs: number; waiting: number; givingUpPerStep: number; admitPerMinute: number | null }

const LINES: Record<string, Line> = {
  'places become free every 200 ms': {
    inside: 100,
    stayMs: 20_000,
    waiting: 1_200,
    givingUpPerStep: 0,
    admitPerMinute: null,
  },
  'the operator admits 240 a minute': {
    inside: 2_000,
    stayMs: 20_000,
    waiting: 1_200,
    givingUpPerStep: 0,
    admitPerMinute: 240,
  },
  'one in a thousand gives up each half second': {
    ...{ inside: 100, stayMs: 20_000, waiting: 2_000, givingUpPerStep: 0.001, admitPerMinute: null },
  },
}

for (const [what, line] of Object.entries(LINES)) {
  test(`${what}: the estimate is within a fifth, and positions only fall`, async () => {
    let nowMs = 1_800_000_000_000
    const store = memoryStore({ goneMs: 60_000_000, admissionTtlMs: 60_000_000 }, () => nowMs)
    const { admitPerMinute } = line
    const room: Room = {
      inventoryId: 1,
      round: 1,
      status: 'OPEN',
      activeMax: line.inside,
      admitPerMinute,
      selling: true,
    }
    await store.begin(room)
    const leaving: { visitor: string; atMs: number }[] = []
    const waiting: string[] = []
    for (let n = 0; n < line.inside; n++) {
      // Those inside came one after another, as they do in a sale that has run for a while.
      await store.join({ ...room, admitPerMinute: null }, `in${n}`, -1)
      leaving.push({ visitor: `in${n}`, atMs: nowMs + ((n + 1) * line.stayMs) / line.inside })
    }
    for (let n = 0; n < line.waiting; n++) waiting.push(`w${n}`)
    for (const visitor of waiting) await store.join(room, visitor, -1)
    const watched = `w${line.waiting - 1}`
    const estimates: { atMs: number; etaMs: number }[] = []
    let lastAhead = Number.POSITIVE_INFINITY
    let givenUp = 0
    for (;;) {
      nowMs += STEP_MS
      const out = leaving.filter(({ atMs }) => atMs <= nowMs)
      for (const one of out) leaving.splice(leaving.indexOf(one), 1)
      await store.leave(
        room,
        out.map(({ visitor }) => visitor),
      )
      givenUp += lastAhead === Number.POSITIVE_INFINITY ? 0 : lastAhead * line.givingUpPerStep
      for (; givenUp >= 1 && waiting.length > 2; givenUp -= 1) {
        const [visitor = ''] = waiting.splice(1 + (((nowMs / STEP_MS) * 7) % (waiting.length - 2)), 1)
        await store.leave(room, [visitor])
      }
      await store.move(room)
      while (waiting[0] && (await store.visit(room, waiting[0], NOTHING)).status !== 'WAITING') {
        const visitor = waiting.shift() ?? ''
        leaving.push({ visitor, atMs: nowMs + line.stayMs })
      }
      const place = await store.visit(room, watched, NOTHING)
      if (place.status === 'ADMITTED') break
      assert.ok(place.ahead <= lastAhead)
      lastAhead = place.ahead
      assert.equal(place.ahead, waiting.indexOf(watched))
      estimates.push({ atMs: nowMs, etaMs: estimateWaitMs(place, room) })
    }
    // A minute to learn the pace, and not the last seconds, of which a step is a large part.
    const judged = estimates.slice(120).filter(({ atMs }) => nowMs - atMs > 10_000)
    assert.ok(judged.length > 60, `${judged.length} estimates`)
    for (const { atMs, etaMs } of judged) {
      const error = etaMs / (nowMs - atMs) - 1
      assert.ok(Math.abs(error) <= 0.2, `said ${etaMs} ms, were ${nowMs - atMs} ms (${(error * 100).toFixed(0)} %)`)
    }
  })
}
