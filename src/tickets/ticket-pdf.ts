// Draws a booking's tickets as a PDF, one page each: tagged for screen readers, its fonts embedded. Takes a tenth of a second: see ticket-printer.ts.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import PDFDocument from 'pdfkit'
import { formatMoney } from '#core/money.ts'
import { drawQr } from './draw-qr.ts'
import { startInWords } from './start-in-words.ts'
import type { TicketSheet } from './ticket-sheet.ts'

// Latin, Greek, Cyrillic, Arabic and more. WOFF2 is out: the library cannot read it.
const REGULAR = readFont('DejaVuSans.ttf')
const BOLD = readFont('DejaVuSans-Bold.ttf')
const LANGUAGE = 'en-GB'
const PAGE = { size: 'A5', margin: 40 } as const
const QR_SIDE = 190
// A long title is set smaller, then on more lines, and cut at last: it never pushes the QR off its page.
const TITLE_SIZES = [24, 20, 16, 13]
const TITLE_LINES = 3
/** Stands where the font has no letter, so that nobody takes a name for empty. */
export const NO_GLYPH = '▯'

/** Throws RangeError on a time zone or a currency there is not. */
export async function drawTickets(sheet: TicketSheet): Promise<Buffer> {
  const doc = new PDFDocument({
    ...PAGE,
    ...{ pdfVersion: '1.7', tagged: true, lang: LANGUAGE, displayTitle: true, autoFirstPage: false },
    info: { Title: `Tickets ${sheet.reference}`, Producer: 'Holdfast', Creator: 'Holdfast' },
  })
  const chunks: Buffer[] = []
  doc.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise((resolve, reject) => doc.on('end', resolve).on('error', reject))
  doc.registerFont('regular', REGULAR).registerFont('bold', BOLD)
  const root = doc.struct('Document')
  doc.addStructure(root)
  for (const ticket of sheet.tickets) drawPage(doc, root, sheet, ticket)
  root.end()
  doc.end()
  await ended
  return Buffer.concat(chunks)
}

function drawPage(
  doc: PDFKit.PDFDocument,
  root: PDFKit.PDFStructureElement,
  sheet: TicketSheet,
  ticket: TicketSheet['tickets'][number],
): void {
  doc.addPage()
  const section = doc.struct('Sect', { title: ticket.place })
  root.add(section)
  const missing = { any: false }
  const width = doc.page.width - 2 * PAGE.margin
  const starts = startInWords(sheet.startsAt, sheet.timeZone, LANGUAGE)

  section.add(doc.struct('H1', {}, () => drawFitted(doc, printable(doc, 'bold', sheet.title, missing), width)))
  const line = (font: 'regular' | 'bold', size: number, text: string) => {
    const shown = printable(doc, font, text, missing)
    section.add(doc.struct('P', {}, () => drawLines(doc, font, size, shown, width, 2)))
  }
  doc.moveDown(0.4)
  line('regular', 11, [sheet.venue, sheet.area].filter(Boolean).join(', '))
  line('bold', 13, `${starts.day}, ${starts.time}`)
  line('regular', 9, `Local time: ${starts.zone}`)
  doc.moveDown(0.4)
  line('bold', 20, `Seat ${ticket.place}`)
  line('regular', 11, `${ticket.category}, ${formatMoney({ amount: ticket.priceMinor, currency: sheet.currency })}`)
  line('regular', 11, `Booking ${sheet.reference}`)
  if (sheet.name) line('regular', 9, `For ${sheet.name}`)

  const left = (doc.page.width - QR_SIDE) / 2
  const top = doc.page.height - PAGE.margin - QR_SIDE - 14
  const alt = `The code that admits one person to seat ${ticket.place}`
  section.add(doc.struct('Figure', { alt }, () => drawQr(doc, ticket.code, left, top, QR_SIDE)))
  if (missing.any) {
    doc.y = top + QR_SIDE
    line('regular', 8, `${NO_GLYPH} stands for letters that cannot be printed here. What counts is the code.`)
  }
  section.end()
}

function drawFitted(doc: PDFKit.PDFDocument, text: string, width: number): void {
  const size = TITLE_SIZES.find((candidate) => {
    doc.font('bold').fontSize(candidate)
    return doc.heightOfString(text, { width }) <= doc.currentLineHeight(true) * 2 + 1
  })
  drawLines(doc, 'bold', size ?? TITLE_SIZES.at(-1) ?? 13, text, width, size ? 2 : TITLE_LINES)
}

function drawLines(
  doc: PDFKit.PDFDocument,
  font: 'regular' | 'bold',
  size: number,
  text: string,
  width: number,
  lines: number,
): void {
  doc.font(font).fontSize(size)
  doc.text(text, PAGE.margin, doc.y, { width, height: doc.currentLineHeight(true) * lines + 1, ellipsis: true })
}

// The library has no public way to ask its font; package.json names the one version that is known to answer here.
type FontInside = { _font: { font: { hasGlyphForCodePoint(codePoint: number): boolean } } }

function printable(doc: PDFKit.PDFDocument, font: string, text: string, missing: { any: boolean }): string {
  doc.font(font)
  const inside = (doc as unknown as FontInside)._font.font
  return Array.from(text, (letter) => {
    if (inside.hasGlyphForCodePoint(letter.codePointAt(0) ?? 0)) return letter
    // Joiners and variation selectors only change a neighbour's look.
    if (/^(?:\p{Join_Control}|\p{Variation_Selector})$/u.test(letter)) return ''
    missing.any = true
    return NO_GLYPH
  }).join('')
}

function readFont(file: string): Buffer {
  return readFileSync(fileURLToPath(import.meta.resolve(`dejavu-fonts-ttf/ttf/${file}`)))
}
