// A booking's tickets as tests print them, changed by each in what it is about.
import type { TicketSheet } from '#tickets/ticket-sheet.ts'

export const SHEET: TicketSheet = {
  bookingId: 'book_1_0123456789abcdef0123456789abcdef',
  reference: 'BCDFGH',
  status: 'CONFIRMED',
  wasConfirmed: true,
  name: null,
  title: 'Metropolis',
  venue: 'Astor',
  area: 'Screen 1',
  startsAt: '2026-11-11T19:00:00.000000Z',
  endsAt: '2026-11-11T21:00:00.000000Z',
  timeZone: 'America/Los_Angeles',
  currency: 'USD',
  tickets: [
    {
      id: 'ticket_1_0123456789abcdef0123456789abcdef',
      code: `HF1.${'AbCdE'.repeat(7)}.${'x-_9Z7'.repeat(14)}Qg`,
      place: 'F7',
      category: 'CLASSIC',
      priceMinor: 1200,
    },
  ],
}
