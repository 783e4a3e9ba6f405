// The thread of ticket-printer.ts: draws what it is sent and answers the bytes, or what went wrong.
import { parentPort } from 'node:worker_threads'
import { drawTickets } from './ticket-pdf.ts'
import type { Drawn } from './ticket-printer.ts'
import type { TicketSheet } from './ticket-sheet.ts'

parentPort?.on('message', (sheet: TicketSheet) => {
  const answer = (drawn: Drawn) => parentPort?.postMessage(drawn)
  drawTickets(sheet).then(
    (pdf) => answer({ pdf }),
    (error: unknown) => answer({ error: String(error) }),
  )
})
