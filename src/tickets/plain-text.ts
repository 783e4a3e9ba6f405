// Makes a name or a title harmless wherever it is printed: one line, and no character that changes how its neighbours are shown or read.

// Overrides and isolates of the writing direction and the other invisible marks: `\u202egpj.exe` would be shown as `exe.jpg`. The two joiners stay,
// because Persian and Hindi are misspelt without them.
const INVISIBLE = /[\p{Cf}--[\u200c\u200d]]/gv
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gv

/** Half a surrogate pair becomes the replacement character. */
export function plainText(text: string): string {
  return text.toWellFormed().replace(CONTROLS, ' ').replace(INVISIBLE, '').replace(/ {2,}/g, ' ').trim()
}
