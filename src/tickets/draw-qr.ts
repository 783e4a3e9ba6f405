// Draws a ticket's QR into a PDF as areas, sharp at any size: a run of dark modules is one rectangle, a quarter of the drawing that single ones would be.
import encodeQR from 'qr'
import { QR_OPTIONS } from './qr-image.ts'

/** The quiet zone is inside `side` (points). */
export function drawQr(doc: PDFKit.PDFDocument, code: string, left: number, top: number, side: number): void {
  const rows = encodeQR(code, 'raw', QR_OPTIONS)
  const module = side / rows.length
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue
      const begins = x
      while (row[x + 1]) x += 1
      doc.rect(left + begins * module, top + y * module, (x - begins + 1) * module, module)
    }
  }
  doc.fill('#000')
}
