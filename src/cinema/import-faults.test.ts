// A box-office feed with faults put into it: each is told with its place and reason, and nothing is guessed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedFeed, type Feed } from '#test/cinema/real-feed.ts'
import { freshDatabase } from '#test/support/database.ts'
import { readFeedTime } from './feed/feed-time.ts'
import { importCinemaFeed } from './import-feed.ts'

test('B067: contradictory and malformed times are refused, the sentinel is none, a time without zone is the venue’s', () => {
  const zone = 'America/Sao_Paulo'
  assert.throws(() => readFeedTime('2026-09-29T15:40:00.000Z-03:00', zone), /is no time/)
  assert.throws(() => readFeedTime('2026829T21:30', zone), /is no time/)
  assert.throws(() => readFeedTime('20260230T100000', zone), /is no time/)
  assert.throws(() => readFeedTime('20260829T250000', zone), /is no time/)
  assert.throws(() => readFeedTime('', zone), /is no time/)
  assert.equal(readFeedTime('18991230T000000', zone), null)
  assert.equal(readFeedTime('20260829T213000', zone), '2026-08-29T21:30:00')
  assert.equal(readFeedTime('2026-08-29T21:30', zone), '2026-08-29T21:30:00')
  assert.equal(readFeedTime('2026-08-30T00:30:00Z', zone), '2026-08-29T21:30:00')
})

test('each unsound session is reported with its own reason, and the sound ones still come in', async (t) => {
  const { sql } = await freshDatabase(t)
  const faults: [string, (row: Record<string, unknown>) => void, RegExp][] = [
    [
      '197473',
      (row) => {
        row.Session_Date_Time = '2026-09-29T15:40:00.000Z-03:00'
      },
      /is no time/,
    ],
    [
      '197476',
      (row) => {
        row.Session_Date_Time = '18991230T000000'
      },
      /sentinel for none/,
    ],
    [
      '197470',
      (row) => {
        row.Session_Venue_Code = 'Cinema 99'
      },
      /unknown venue "Cinema 99"/,
    ],
    [
      '197474',
      (row) => {
        row.Session_Movie_Code = 'NOSUCHFILM'
      },
      /unknown movie "NOSUCHFILM"/,
    ],
    [
      '197477',
      (row) => {
        row.Session_Price_Group_Code = 'GOLD'
      },
      /unknown price group "GOLD"/,
    ],
    [
      '197471',
      (row) => {
        row.Session_End_Time = '20250819T110000'
      },
      /ends before it starts/,
    ],
    [
      '197480',
      (row) => {
        row.Session_Accounting_Date = '20250818T060000'
      },
      /belongs to the programme of 2025-08-19/,
    ],
    [
      '197482',
      (row) => {
        row.Session_Seats_Remaining = -1
      },
      /-1 seats remain in a hall of 77/,
    ],
    [
      '197472',
      (row) => {
        row.Session_Seats_Remaining = '97'
      },
      /not a whole number/,
    ],
    [
      '197478',
      (row) => {
        row.Session_Cancelled = 'no'
      },
      /not true or false/,
    ],
  ]
  const feed = changedFeed(({ Sessions }) => {
    for (const [id, spoil] of faults) {
      const row = Sessions.find((session) => String(session.Session_Index) === id)
      if (row) spoil(row)
    }
  })
  const report = await importCinemaFeed(sql, feed)
  for (const [id, , reason] of faults) {
    const skipped = report.skipped.find((row) => row.id === id)
    assert.match(skipped?.reason ?? '', reason, id)
    assert.equal((JSON.parse(feed) as Feed).Sessions[(skipped?.row ?? 0) - 1]?.Session_Index, Number(id))
  }
  assert.equal(report.imported.showtimes, 102 - faults.length)
})

test('live sessions that overlap are both reported, touching ones are not, and a cancelled one is in nobody’s way', async (t) => {
  const { sql } = await freshDatabase(t)
  const feed = changedFeed(({ Sessions }) => {
    const at = (id: number) => Sessions.find((session) => session.Session_Index === id) ?? {}
    at(197489).Session_End_Time = '20250820T131600' // One minute into 197490 on the same screen.
    at(197476).Session_End_Time = '20250819T134000' // 197477 begins at this very minute.
  })
  const report = await importCinemaFeed(sql, feed)
  const reasons = new Map(report.skipped.map((row) => [row.id, row.reason]))
  assert.match(reasons.get('197489') ?? '', /overlaps session 197490/)
  assert.match(reasons.get('197490') ?? '', /overlaps session 197489/)
  assert.equal(report.imported.showtimes, 100)
})

test('a time that the venue’s clock skips or has twice is reported, not guessed', async (t) => {
  const { sql } = await freshDatabase(t)
  const feed = changedFeed(({ Sessions }) => {
    const move = (id: number, day: string, start: string, end: string) => {
      const row = Sessions.find((session) => session.Session_Index === id) ?? {}
      Object.assign(row, {
        Session_Date_Time: `${day}T${start}`,
        Session_End_Time: `${day}T${end}`,
        Session_Accounting_Date: `${Number(day) - 1}T060000`,
      })
    }
    move(197473, '20261004', '023000', '050000') // Melbourne goes forward from 2 to 3.
    move(197476, '20260405', '023000', '050000') // And back from 3 to 2.
  })
  const reasons = new Map((await importCinemaFeed(sql, feed)).skipped.map((row) => [row.id, row.reason]))
  assert.match(reasons.get('197473') ?? '', /does not exist in Australia\/Melbourne/)
  assert.match(reasons.get('197476') ?? '', /happens twice in Australia\/Melbourne/)
})

test('a feed without a time zone, and a file that is none, are refused as a whole', async (t) => {
  const { sql } = await freshDatabase(t)
  const zoneless = changedFeed(({ Installation }) => {
    delete Installation.Timezone_Not_In_Feed
  })
  await assert.rejects(importCinemaFeed(sql, zoneless), { code: 'FEED_UNREADABLE', message: /names no time zone/ })
  await assert.rejects(importCinemaFeed(sql, 'Cinema 03;WEAPONS'), { code: 'FEED_UNREADABLE' })
  await assert.rejects(importCinemaFeed(sql, '{}'), { code: 'FEED_UNREADABLE' })
  assert.equal((await importCinemaFeed(sql, zoneless, { timeZone: 'Australia/Melbourne' })).imported.showtimes, 102)
})
