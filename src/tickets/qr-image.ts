// A ticket's code as a QR, to show on a screen (SVG) or to print and mail (PNG). Black on white whatever the page's colours: scanners want that.
import { crc32, deflateSync } from 'node:zlib'
import encodeQR from 'qr'

// Medium corrects 15 %: enough for a scratched screen, and the 125 letters stay coarse enough for a cheap camera.
export const QR_OPTIONS = { ecc: 'medium', border: 4 } as const
const PNG_PIXELS_PER_MODULE = 8
const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

export function qrSvg(code: string): string {
  const modules = encodeQR(code, 'raw', QR_OPTIONS)
  const dark = modules.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  const size = modules.length
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges" role="img"><title>Ticket</title><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${dark}"/></svg>`
}

/** One bit a pixel, greyscale. */
export function qrPng(code: string): Buffer {
  const modules = encodeQR(code, 'raw', QR_OPTIONS)
  const width = modules.length * PNG_PIXELS_PER_MODULE
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(width, 4)
  header.set([1, 0, 0, 0, 0], 8)
  // A module is eight pixels wide, which is one byte: 0x00 is dark, 0xff is light. Each line begins with its filter, none.
  const lines = modules.flatMap((row) => {
    const line = Buffer.from([0, ...row.map((isDark) => (isDark ? 0x00 : 0xff))])
    return new Array<Buffer>(PNG_PIXELS_PER_MODULE).fill(line)
  })
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(Buffer.concat(lines))),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const chunk = Buffer.alloc(body.length + 8)
  chunk.writeUInt32BE(data.length, 0)
  body.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(body), body.length + 4)
  return chunk
}
