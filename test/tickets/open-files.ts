// Opens the files we give away with programs that are not ours: pdf.js reads the PDF, the QR is read from its drawing, ical.js reads the calendar.
import ICAL from 'ical.js'
import { getDocument, OPS } from 'pdfjs-dist/legacy/build/pdf.mjs'
import decodeQR from 'qr/decode.js'

export type OpenedPage = {
  text: string
  fonts: { name: string; embedded: boolean }[]
  roles: string[]
  qr: string | null
}
export type OpenedPdf = { language: string; title: string; tagged: boolean; pages: OpenedPage[] }

type Tree = { role?: string; alt?: string; children?: Tree[] }
type Font = { name: string; missingFile: boolean }

export async function openPdf(bytes: Buffer): Promise<OpenedPdf> {
  const task = getDocument({ data: new Uint8Array(bytes), verbosity: 0 })
  const document = await task.promise
  const info = (await document.getMetadata()).info as { Language: string; Title: string }
  const marks = await document.getMarkInfo()
  const pages: OpenedPage[] = []
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number)
    const { fnArray, argsArray } = await page.getOperatorList()
    const { items } = await page.getTextContent()
    const shown = items.filter((item) => 'str' in item)
    const names = [...new Set(shown.filter(({ str }) => str.trim()).map(({ fontName }) => fontName))]
    const fonts = names.map((name) => page.commonObjs.get(name) as Font)
    const paths = argsArray.filter((_, index) => fnArray[index] === OPS.constructPath)
    pages.push({
      text: shown.map(({ str, hasEOL }) => (hasEOL ? `${str}\n` : str)).join(''),
      fonts: fonts.map(({ name, missingFile }) => ({ name, embedded: !missingFile && /^[A-Z]{6}\+/.test(name) })),
      roles: rolesOf((await page.getStructTree()) as Tree),
      qr: paths.length > 0 ? readDrawnQr(paths as DrawnPath[]) : null,
    })
  }
  await task.destroy()
  return { language: info.Language, title: info.Title, tagged: marks?.Marked === true, pages }
}

function rolesOf({ role, alt, children = [] }: Tree): string[] {
  return [...(role ? [alt ? `${role}: ${alt}` : role] : []), ...children.flatMap(rolesOf)]
}

// [paint operator, [path], bounds]; a path is 0 x y (move), 1 x y (line), 4 (close).
type DrawnPath = [number, [Float32Array], Float32Array]
const PIXELS_PER_MODULE = 4
const QUIET_MODULES = 4

/** Paints the filled areas on a bitmap as a screen would, and reads that. Pages are drawn with the origin at the top, as pictures have it. */
function readDrawnQr(paths: DrawnPath[]): string {
  const boxes = paths.flatMap(([, [path]]) => boxesOf([...path]))
  const left = Math.min(...boxes.map(([x]) => x ?? 0))
  const upper = Math.min(...boxes.map(([, y]) => y ?? 0))
  const module = Math.min(...boxes.map(([, y = 0, , below = 0]) => below - y))
  const pixel = (length: number) => Math.round((length / module) * PIXELS_PER_MODULE)
  const modules = Math.max(...boxes.map(([, , right = 0]) => (right - left) / module))
  const size = (Math.round(modules) + 2 * QUIET_MODULES) * PIXELS_PER_MODULE
  const data = new Uint8ClampedArray(size * size * 4).fill(255)
  for (const [x = 0, y = 0, right = 0, below = 0] of boxes) {
    for (let row = pixel(y - upper); row < pixel(below - upper); row++)
      for (let column = pixel(x - left); column < pixel(right - left); column++) {
        const quiet = QUIET_MODULES * PIXELS_PER_MODULE
        const at = ((quiet + row) * size + column + quiet) * 4
        data.fill(0, at, at + 3)
      }
  }
  return decodeQR({ width: size, height: size, data })
}

function boxesOf(path: number[]): number[][] {
  const boxes: number[][] = []
  let points: [number, number][] = []
  for (let at = 0; at < path.length; ) {
    const operator = path[at]
    if (operator === 4) at += 1
    else {
      if (operator === 0) points = []
      points.push([path[at + 1] ?? 0, path[at + 2] ?? 0])
      at += 3
    }
    if (operator === 4) {
      const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)]
      boxes.push([Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)])
    }
  }
  return boxes
}

export type OpenedEvent = {
  method: string
  uid: string
  sequence: number
  status: string
  /** UTC, by the rules of the zone that stand in the file and nothing else. */
  startsAt: string
  endsAt: string | null
  startsLocal: string
  zone: string
  summary: string
  location: string
  description: string
}

export function openCalendar(text: string): OpenedEvent {
  ICAL.TimezoneService.reset()
  const calendar = new ICAL.Component(ICAL.parse(text))
  for (const zone of calendar.getAllSubcomponents('vtimezone')) ICAL.TimezoneService.register(new ICAL.Timezone(zone))
  const component = calendar.getFirstSubcomponent('vevent')
  if (!component) throw new Error('no event in it')
  const event = new ICAL.Event(component)
  const instant = (time: ICAL.Time) => new Date(time.toUnixTime() * 1000).toISOString()
  return {
    method: String(calendar.getFirstPropertyValue('method')),
    uid: event.uid,
    sequence: event.sequence,
    status: String(component.getFirstPropertyValue('status')),
    startsAt: instant(event.startDate),
    endsAt: component.hasProperty('dtend') ? instant(event.endDate) : null,
    startsLocal: event.startDate.toString(),
    zone: event.startDate.zone?.tzid ?? '',
    summary: event.summary,
    location: event.location,
    description: event.description,
  }
}
