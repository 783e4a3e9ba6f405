// Wall clocks and instants: gaps, doubled hours, programme days. The clock changes are a cut of those computed from the IANA database 2025b.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkZone, NoSuchTime, venueTime, venueTimeOf } from './venue-time.ts'

// zone, instant of the change, wall clock at that instant before and after it. Half-hour changes and changes at midnight are among them.
const GAPS: [string, string, string, string][] = [
  ['Europe/Berlin', '2026-03-29T01:00:00Z', '2026-03-29T02:00', '2026-03-29T03:00'],
  ['Europe/London', '2027-03-28T01:00:00Z', '2027-03-28T01:00', '2027-03-28T02:00'],
  ['Africa/Cairo', '2026-04-23T22:00:00Z', '2026-04-24T00:00', '2026-04-24T01:00'],
  ['Asia/Beirut', '2026-03-28T22:00:00Z', '2026-03-29T00:00', '2026-03-29T01:00'],
  ['Australia/Melbourne', '2026-10-03T16:00:00Z', '2026-10-04T02:00', '2026-10-04T03:00'],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z', '2026-10-04T02:00', '2026-10-04T02:30'],
]
const OVERLAPS: [string, string, string, string][] = [
  ['Europe/Berlin', '2026-10-25T01:00:00Z', '2026-10-25T03:00', '2026-10-25T02:00'],
  ['Asia/Jerusalem', '2026-10-24T23:00:00Z', '2026-10-25T02:00', '2026-10-25T01:00'],
  ['Africa/Cairo', '2026-10-29T21:00:00Z', '2026-10-30T00:00', '2026-10-29T23:00'],
  ['Asia/Beirut', '2026-10-24T21:00:00Z', '2026-10-25T00:00', '2026-10-24T23:00'],
]

test('the first and the last minute of a skipped hour are refused, its two edges are not', () => {
  for (const [zone, instant, from, until] of GAPS) {
    for (const skipped of [from, minuteBefore(until)]) {
      assert.throws(
        () => venueTime(skipped, zone, '06:00'),
        (error) => error instanceof NoSuchTime && error.reason === 'gap',
        `${zone} ${skipped}`,
      )
    }
    assert.equal(venueTime(until, zone, '06:00').instant, instant)
    assert.equal(venueTime(minuteBefore(from), zone, '06:00').instant, minuteEarlier(instant))
  }
})

test('a doubled minute must say which: the earlier one, or the later', () => {
  for (const [zone, instant, until, from] of OVERLAPS) {
    assert.throws(
      () => venueTime(from, zone, '06:00'),
      (error) => error instanceof NoSuchTime && error.reason === 'doubled',
      `${zone} ${from}`,
    )
    assert.equal(venueTime(from, zone, '06:00', 'later').instant, instant)
    assert.ok(venueTime(from, zone, '06:00', 'earlier').instant < instant)
    assert.ok(venueTime(until, zone, '06:00').instant > instant)
  }
})

test('B060: the offset is that of the day of the show, whatever today is', () => {
  const { instant, local } = venueTime('2026-11-11T11:00', 'America/Los_Angeles', '06:00')
  assert.deepEqual([instant, local], ['2026-11-11T19:00:00Z', '2026-11-11T11:00:00-08:00'])
})

test('B061: the same wall clock a week later is the same wall clock, across the change', () => {
  const before = venueTime('2026-03-04T10:00', 'America/Denver', '06:00')
  const after = venueTime('2026-03-11T10:00', 'America/Denver', '06:00')
  assert.deepEqual([before.instant, after.instant], ['2026-03-04T17:00:00Z', '2026-03-11T16:00:00Z'])
  assert.deepEqual([before.local.slice(11, 16), after.local.slice(11, 16)], ['10:00', '10:00'])
})

test('B059: 00:35 on Saturday stands in Friday’s programme, 06:00 in Saturday’s', () => {
  assert.deepEqual(venueTime('2026-12-05T00:35', 'Australia/Melbourne', '06:00'), {
    instant: '2026-12-04T13:35:00Z',
    local: '2026-12-05T00:35:00+11:00',
    businessDay: '2026-12-04',
  })
  assert.equal(venueTime('2026-12-05T05:59', 'Australia/Melbourne', '06:00').businessDay, '2026-12-04')
  assert.equal(venueTime('2026-12-05T06:00', 'Australia/Melbourne', '06:00').businessDay, '2026-12-05')
  assert.equal(venueTime('2026-12-05T00:35', 'Australia/Melbourne', '00:00').businessDay, '2026-12-05')
})

test('an instant is shown on the venue’s clock, half-hour zones included', () => {
  assert.equal(venueTimeOf('2026-12-04T13:00:00Z', 'Asia/Kolkata', '06:00').local, '2026-12-04T18:30:00+05:30')
  assert.equal(venueTimeOf('2026-12-04T13:00:00Z', 'Asia/Kathmandu', '06:00').local, '2026-12-04T18:45:00+05:45')
})

test('what is no local time, and what is no zone, is refused', () => {
  for (const text of [
    '',
    '2026-02-30T10:00',
    '2026-12-04',
    '2026-12-04T24:00',
    '2026-12-04T10:00Z',
    '2026-12-04T10:00+01:00',
    '4.12.2026 10:00',
  ]) {
    assert.throws(
      () => venueTime(text, 'Europe/Berlin', '06:00'),
      (error) => error instanceof NoSuchTime && error.reason === 'malformed',
      text,
    )
  }
  for (const zone of ['', 'Mars/Olympus', '+02:00', 'UTC+2', 'Berlin'])
    assert.throws(() => checkZone(zone), NoSuchTime, zone)
  for (const zone of ['Europe/Berlin', 'Asia/Ho_Chi_Minh', 'America/Argentina/Buenos_Aires', 'UTC']) checkZone(zone)
})

function minuteBefore(local: string): string {
  return Temporal.PlainDateTime.from(local).subtract({ minutes: 1 }).toString().slice(0, 16)
}

function minuteEarlier(instant: string): string {
  return Temporal.Instant.from(instant).subtract({ minutes: 1 }).toString()
}
