// Takes out of a film title what was never part of it: tags, leftover style rules, footnote marks, no-break and doubled spaces.

// Wikipedia exports leave whole rules behind: `.mw-parser-output .frac .num{font-size:80%}`. A title has no braces of its own.
const STYLE_RULES = /(?:[.#@][\w-]+[^{}]*)?\{[^{}]*\}/g
const TAGS = /<\/?[a-z!][^<>]*>/gi
// A mark of the language a link leads to, set with a no-break space: `Fly by Night [fr]`.
const LANGUAGE_MARK = /[\s\u00a0]+\[[a-z]{2,3}\]$/

export function cleanTitle(title: string): string {
  const spaced = title
    .replace(/<style[^>]*>.*?<\/style>/gis, ' ')
    .replace(TAGS, ' ')
    .replace(STYLE_RULES, ' ')
    .replace(LANGUAGE_MARK, '')
  return spaced.replace(/[\s\u00a0\u200b\ufeff]+/g, ' ').trim()
}
