// The calendar file as ical.js understands it: the right instant through every change of the clock, and every text as it was.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openCalendar } from '#test/tickets/open-files.ts'
import { SHEET } from '#test/tickets/sheet.ts'
import { escapeText, fold, writeCalendar } from './write-calendar.ts'

const STATE = { sequence: 0, changedAt: '2026-10-01T12:00:00.123456Z' }

test('B064: the instant and the wall clock are right in every zone, before, after and across a change of the clock', () => {
  for (const [startsAt, endsAt, timeZone, local] of [
    ['2026-11-11T19:00:00Z', '2026-11-11T21:00:00Z', 'America/Los_Angeles', '2026-11-11T11:00:00'],
    ['2026-07-01T17:30:00Z', '2026-07-01T20:00:00Z', 'Europe/Vienna', '2026-07-01T19:30:00'],
    // Begins in summer time and ends in winter time, and the other way round.
    ['2026-10-24T23:30:00Z', '2026-10-25T02:30:00Z', 'Europe/Berlin', '2026-10-25T01:30:00'],
    ['2027-03-28T00:30:00Z', '2027-03-28T03:00:00Z', 'Europe/Berlin', '2027-03-28T01:30:00'],
    // Exactly at the change.
    ['2026-10-25T01:00:00Z', '2026-10-25T03:00:00Z', 'Europe/Berlin', '2026-10-25T02:00:00'],
    ['2026-12-04T13:15:00Z', '2026-12-04T15:15:00Z', 'Asia/Kathmandu', '2026-12-04T19:00:00'],
    ['2026-08-27T06:00:00Z', '2026-08-27T08:00:00Z', 'Pacific/Auckland', '2026-08-27T18:00:00'],
    ['2026-08-27T06:00:00Z', '2026-08-27T08:00:00Z', 'Australia/Lord_Howe', '2026-08-27T16:30:00'],
    ['2026-08-27T06:00:00Z', '2026-08-27T08:00:00Z', 'Asia/Kolkata', '2026-08-27T11:30:00'],
    ['2026-08-27T06:00:00Z', '2026-08-27T08:00:00Z', 'UTC', '2026-08-27T06:00:00'],
  ] as const) {
    const event = openCalendar(writeCalendar({ ...SHEET, startsAt, endsAt, timeZone }, STATE))
    const expected = [startsAt, endsAt].map((instant) => instant.replace('Z', '.000Z'))
    assert.deepEqual(
      [event.startsAt, event.endsAt, event.startsLocal, event.zone],
      [...expected, local, timeZone],
      `${timeZone} ${startsAt}`,
    )
  }
})

test('a show whose end nobody knows has none', () => {
  assert.equal(openCalendar(writeCalendar({ ...SHEET, endsAt: null }, STATE)).endsAt, null)
})

test('B072: commas, semicolons, backslashes and every letter come back as they went in', () => {
  const venue = 'Main St 1, Hall; B\\C \u{1f3ac} "quoted": x=y'
  const title = `${'é'.repeat(40)}\u{1f39f}${'ß'.repeat(200)}`
  const event = openCalendar(writeCalendar({ ...SHEET, title, venue, area: 'Saal\\n;' }, STATE))
  assert.equal(event.summary, title)
  assert.equal(event.location, `${venue}, Saal\\n;`)
  assert.equal(event.description, 'Booking BCDFGH\nSeats: F7')
})

test('no text of a title becomes a line of its own', () => {
  const title = 'A\r\nEND:VEVENT\r\nBEGIN:VALARM\nATTACH:http://x'
  const file = writeCalendar({ ...SHEET, title }, STATE)
  assert.equal(file.match(/^(BEGIN:VALARM|ATTACH)/m), null)
  assert.equal(openCalendar(file).summary, 'A END:VEVENT BEGIN:VALARM ATTACH:http://x')
})

test('B072: CRLF, at most 75 octets a line, never folded inside a letter or an escape, whatever stands at the edge', () => {
  for (let before = 60; before < 80; before++) {
    for (const at of ['\\n', '\\,', '\\\\', 'é', '\u{1f39f}', 'x']) {
      const line = `SUMMARY:${'a'.repeat(before - 8)}${at}${'b'.repeat(90)}`
      const folded = fold(line)
      const lines = folded.split('\r\n')
      assert.equal(folded.replaceAll('\r\n ', ''), line)
      assert.ok(lines.length > 1 && lines.every((one) => Buffer.byteLength(one) <= 75))
      assert.ok(
        lines.some((one) => one.includes(at)),
        `${JSON.stringify(at)} was cut at ${before}`,
      )
      assert.ok(lines.every((one) => one.isWellFormed()))
    }
  }
  const file = writeCalendar({ ...SHEET, title: 'x'.repeat(300) }, STATE)
  assert.ok(file.endsWith('END:VCALENDAR\r\n') && !/[^\r]\n/.test(file))
  assert.equal(escapeText('a\nb\r\nc;,\\'), 'a b c\\;\\,\\\\')
})
