// Titles: what a search finds, and what is cleaned out of them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { cleanTitle } from './clean-title.ts'
import { foldText, searchPatterns } from './fold-text.ts'

test('B074: accents, case and signs do not matter', () => {
  const same: [string, string][] = [
    ['Léon: The Professional', 'leon the professional'],
    ['Prêt-à-Porter', 'pret a porter'],
    ['Æon Flux', 'AEON FLUX'],
    ['Brüno', 'bruno'],
    ['Đất rừng phương Nam', 'dat rung phuong nam'],
    ['Straße', 'strasse'],
    ['Bébé’s Kids', "Bebe's Kids"],
    ['9½ Weeks', '9½ weeks'],
    ['…First Do No Harm', 'first do no harm'],
    ['Дмитрий', 'ДМИТРИЙ'],
    ['二吉', '二吉'],
  ]
  for (const [title, typed] of same) assert.equal(foldText(title), foldText(typed), title)
})

test('a search is its words in any order, and never a pattern of the database', () => {
  assert.deepEqual(searchPatterns('  profess LÉON '), ['%profess%', '%leon%'])
  assert.deepEqual(searchPatterns('100%_\\'), ['%100%'])
  assert.deepEqual(searchPatterns('…'), [])
})

test('B074: markup, no-break spaces and language marks go, signs that belong to the title stay', () => {
  const cleaned: [string, string][] = [
    ['Fly by Night\u00a0[fr]', 'Fly by Night'],
    ['Deadpool &\u00a0Wolverine', 'Deadpool & Wolverine'],
    ['<i>Alien</i><br/>s', 'Alien s'],
    ['<style>.a{b:c}</style>Kangaroo', 'Kangaroo'],
    ['OC  Naked Gun ', 'OC Naked Gun'],
    ['61*', '61*'],
    ['$9.99', '$9.99'],
    ['I <3 Huckabees', 'I <3 Huckabees'],
    ['[REC]', '[REC]'],
    ['Dr. No', 'Dr. No'],
  ]
  for (const [raw, clean] of cleaned) assert.equal(cleanTitle(raw), clean)
})

test('the 851 real titles: none keeps markup, none is lost, and the worst of them becomes a title', () => {
  const sample = JSON.parse(readFileSync(new URL('../../data/cinema/movies_subset.json', import.meta.url), 'utf8')) as {
    title: string
    year: number
  }[]
  assert.equal(sample.length, 851)
  for (const { title } of sample) {
    const clean = cleanTitle(title)
    assert.ok(clean !== '' && !/[<>{}\u00a0]|mw-parser/.test(clean), title)
  }
  const worst = sample.find(({ title }) => title.includes('mw-parser'))
  assert.equal(cleanTitle(worst?.title ?? ''), 'Naked Gun 33+1⁄3: The Final Insult')
})
