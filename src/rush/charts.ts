// The charts of the report as inline SVG: no script, no font, nothing from outside. Colours are the page's variables, so that light and dark are its affair.
import { escapeHtml } from '#core/page.ts'

/** `tone` is the number of one of the page's colours. */
export type Series = { name: string; tone: number; values: number[] }

const WIDTH = 960
const LEFT = 64
const BOTTOM = 36
const TOP = 12
const TICKS = 4
/** Figures a person would write on an axis. */
const ROUND_STEPS = [1, 2, 5, 10]

type Frame = { title: string; description: string; height: number }

/** Columns of stacked parts, one a second (or a few seconds, where the evening was long). */
export function stackedColumns(frame: Frame, seconds: number[], series: Series[]): string {
  const totals = seconds.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0))
  const scale = verticalScale(frame.height, Math.max(1, ...totals))
  const step = (WIDTH - LEFT) / Math.max(1, seconds.length)
  const parts = seconds.flatMap((second, at) => {
    let below = 0
    return series.flatMap(({ name, tone, values }) => {
      const value = values[at] ?? 0
      if (value === 0) return []
      const [bottom, top] = [scale.y(below), scale.y(below + value)]
      below += value
      const box = `x="${round(LEFT + at * step)}" y="${round(top)}" width="${round(Math.max(0.5, step - 1))}" height="${round(bottom - top)}"`
      return `<rect class="tone${tone}" ${box}><title>second ${second}: ${value} ${escapeHtml(name)}</title></rect>`
    })
  })
  return svg(frame, [scale.grid, ...parts, secondsAxis(frame.height, seconds)])
}

/** A line that only steps: what was sold by each second. `max` is the top of the scale. */
export function stepLine(frame: Frame, seconds: number[], values: number[], max: number): string {
  const scale = verticalScale(frame.height, Math.max(1, max))
  const step = (WIDTH - LEFT) / Math.max(1, seconds.length)
  const points = values.map((value, at) => `H${round(LEFT + at * step)}V${round(scale.y(value))}`).join('')
  const path = `M${LEFT},${scale.y(0)}${points}H${WIDTH}`
  return svg(frame, [
    scale.grid,
    `<path class="area" d="${path}V${scale.y(0)}Z"/><path class="line" d="${path}"/>`,
    secondsAxis(frame.height, seconds),
  ])
}

/** One bar a row, its figure at its end. */
export function bars(frame: Omit<Frame, 'height'>, rows: { name: string; value: number }[]): string {
  const [rowHeight, names] = [28, 260]
  const max = Math.max(1, ...rows.map(({ value }) => value))
  const drawn = rows.map(({ name, value }, at) => {
    const width = round((value / max) * (WIDTH - names - 90))
    const y = at * rowHeight
    return `<text x="${names - 10}" y="${y + 19}" text-anchor="end">${escapeHtml(name)}</text><rect class="tone1" x="${names}" y="${y + 5}" width="${width}" height="18" rx="3"/><text x="${round(names + width + 8)}" y="${y + 19}">${value}</text>`
  })
  return svg({ ...frame, height: Math.max(1, rows.length) * rowHeight }, drawn)
}

/** From p50 to the maximum of each row on a logarithmic scale: a thin line, with a mark at p50, p95 and p99. */
export function ranges(
  frame: Omit<Frame, 'height'>,
  rows: { name: string; marks: [number, number, number, number] }[],
): string {
  const [rowHeight, names] = [30, 200]
  const height = rows.length * rowHeight + BOTTOM
  const top = Math.max(10, ...rows.map(({ marks }) => marks[3]))
  const decades = Math.ceil(Math.log10(top))
  const x = (ms: number) => round(names + (Math.max(0, Math.log10(Math.max(1, ms))) / decades) * (WIDTH - names - 30))
  const grid = Array.from({ length: decades + 1 }, (_, power) => {
    const at = x(10 ** power)
    return `<line class="grid" x1="${at}" x2="${at}" y1="0" y2="${height - BOTTOM}"/><text x="${at}" y="${height - 14}" text-anchor="middle">${power < 3 ? `${10 ** power} ms` : `${10 ** (power - 3)} s`}</text>`
  })
  const drawn = rows.map(({ name, marks: [p50, p95, p99, max] }, at) => {
    const y = at * rowHeight + 15
    const dots = [p50, p95, p99].map(
      (ms, index) =>
        `<circle class="tone${[1, 3, 6][index]}" cx="${x(ms)}" cy="${y}" r="6"><title>${['p50', 'p95', 'p99'][index]} ${ms} ms</title></circle>`,
    )
    return `<text x="${names - 14}" y="${y + 5}" text-anchor="end">${escapeHtml(name)}</text><line class="range" x1="${x(p50)}" x2="${x(max)}" y1="${y}" y2="${y}"/>${dots.join('')}`
  })
  return svg({ ...frame, height }, [...grid, ...drawn])
}

export function svg({ title, description, height }: Frame, parts: string[], width = WIDTH): string {
  const id = `chart-${title.toLowerCase().replace(/[^a-z]+/g, '-')}`
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${id}-title ${id}-text"><title id="${id}-title">${escapeHtml(title)}</title><desc id="${id}-text">${escapeHtml(description)}</desc>${parts.join('')}</svg>`
}

function verticalScale(height: number, max: number): { y: (value: number) => number; grid: string } {
  const power = 10 ** Math.floor(Math.log10(max / TICKS))
  const step = Math.max(1, (ROUND_STEPS.find((one) => one * power * TICKS >= max) ?? 10) * power)
  const top = Math.ceil(max / step) * step
  const y = (value: number) => round(TOP + (1 - value / top) * (height - TOP - BOTTOM))
  const lines = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step).map(
    (value) =>
      `<line class="grid" x1="${LEFT}" x2="${WIDTH}" y1="${y(value)}" y2="${y(value)}"/><text x="${LEFT - 8}" y="${y(value) + 4}" text-anchor="end">${value}</text>`,
  )
  return { y, grid: lines.join('') }
}

function secondsAxis(height: number, seconds: number[]): string {
  const every = Math.max(1, Math.ceil(seconds.length / 12))
  const step = (WIDTH - LEFT) / Math.max(1, seconds.length)
  return seconds
    .flatMap((second, at) =>
      at % every === 0 ? `<text x="${round(LEFT + at * step)}" y="${height - 12}">${second} s</text>` : [],
    )
    .join('')
}

export function round(value: number): number {
  return Math.round(value * 10) / 10
}
