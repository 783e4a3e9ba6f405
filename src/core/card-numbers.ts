// No card number comes in: whoever types one into a name or a note is told to stop, and neither the database nor the log ever has it (SC10).
import type { App } from './http.ts'
import { Problem } from './problem.ts'

const DIGITS_MIN = 13
const DIGITS_MAX = 19
// By itself, perhaps in groups: a run of digits inside a longer word, such as an id of ours, is none.
const CANDIDATE = /(?<![0-9A-Za-z_-])\d(?:[ -]?\d){12,18}(?![0-9A-Za-z_-])/g

/** Every text of a body and of a query. The answer names the place, never the number. */
export function refuseCardNumbers(app: App): void {
  app.addHook('preValidation', (request, _reply, done) => {
    const path = findCardNumber(request.query) ?? findCardNumber(request.body)
    if (path === null) return done()
    const message = 'looks like a card number; never send one here'
    done(new Problem('INVALID_REQUEST', { errors: [{ path: path || '/', message }] }))
  })
}

/** The same for what is about to be logged. */
export function maskCardNumbers(text: string): string {
  return text.replace(CANDIDATE, (candidate) => (isCardNumber(candidate) ? '[card number]' : candidate))
}

/** The path of the first text with one in it. Without recursion: 64 KiB can nest 30,000 deep. */
function findCardNumber(root: unknown): string | null {
  if (root === null || typeof root !== 'object' || Buffer.isBuffer(root)) return hasCardNumber(root) ? '' : null
  const left: { value: object; path: string }[] = [{ value: root, path: '' }]
  for (let next = left.pop(); next; next = left.pop()) {
    for (const [name, value] of Object.entries(next.value)) {
      const path = next.path.length > 200 || hasCardNumber(name) ? next.path : `${next.path}/${name}`
      if (hasCardNumber(value) || hasCardNumber(name)) return path
      if (value !== null && typeof value === 'object') left.push({ value, path })
    }
  }
  return null
}

function hasCardNumber(value: unknown): boolean {
  if (typeof value !== 'string' || value.length < DIGITS_MIN) return false
  for (const [candidate] of value.matchAll(CANDIDATE)) if (isCardNumber(candidate)) return true
  return false
}

// Luhn: from the right every second digit counts twice, and the sum ends in 0.
function isCardNumber(candidate: string): boolean {
  const digits = candidate.replace(/[ -]/g, '')
  if (digits.length < DIGITS_MIN || digits.length > DIGITS_MAX) return false
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at])
    const doubled = at % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
