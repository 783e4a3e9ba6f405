// Folds a title or what somebody types into the form both are compared in: 'Léon' and 'leon' become one, signs become spaces.

// Letters that Unicode does not take apart, as people without them on their keyboard write them.
const SPELT_OUT: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ß: 'ss',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ı: 'i',
}

/** Letters and digits of any script in lower case, words parted by one space; empty when there are none. */
export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[æœøßđðþłı]/g, (letter) => SPELT_OUT[letter] ?? letter)
    .replace(/\p{M}+/gu, '')
    .replace(/['’ʻ]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** The words of a search, as patterns for `like all`; they hold letters and digits only, so nothing needs escaping. */
export function searchPatterns(text: string): string[] {
  const folded = foldText(text)
  return folded === '' ? [] : folded.split(' ').map((word) => `%${word}%`)
}
