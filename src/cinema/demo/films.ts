// The films of the demonstration: titles, casts and genres from the sample in data/, the lengths from here because the sample has none.
import { readFileSync } from 'node:fs'
import type { NewMovie } from '../add-movie.ts'

type SampleFilm = { title: string; year: number; cast: string[]; genres: string[] }

const SAMPLE = new URL('../../../data/cinema/movies_subset.json', import.meta.url)

// As the sample writes them: with accents, signs and leftovers of markup, because real catalogues have those too. [title, year, minutes]
const CHOSEN: [string, number, number][] = [
  ['Léon: The Professional', 1994, 110],
  ['Everything Everywhere All at Once', 2022, 139],
  ['Aliens', 1986, 137],
  ['Déjà Vu', 2006, 126],
  ['Knives Out', 2019, 130],
  ['Up', 2009, 96],
  ['Spaceballs', 1987, 96],
  ['Tár', 2022, 158],
  ['Life of Pi', 2012, 127],
  ['Æon Flux', 2005, 93],
  ['The Lego Movie', 2014, 100],
  ['Top Gun: Maverick', 2022, 130],
  ['9½ Weeks', 1986, 117],
  ['Minari', 2021, 115],
  ['Pokémon Detective Pikachu', 2019, 104],
  ['Les Misérables', 2012, 158],
  ['The Farewell', 2019, 100],
  ['Turning Red', 2022, 100],
  ['Café Society', 2016, 96],
  ['61*', 2001, 129],
  ['Call Me by Your Name', 2017, 132],
  ['Shaun the Sheep Movie', 2015, 85],
  ['John Wick: Chapter 4', 2023, 169],
  ['$9.99', 2009, 78],
]

export function demoFilms(): (NewMovie & { minutes: number; externalId: string })[] {
  const sample = JSON.parse(readFileSync(SAMPLE, 'utf8')) as SampleFilm[]
  return CHOSEN.map(([title, year, minutes]) => {
    const film = sample.find((one) => one.title === title && one.year === year)
    if (!film) throw new Error(`the sample has no ${title} (${year})`)
    return {
      title,
      year,
      minutes,
      language: 'en',
      genres: film.genres,
      cast: film.cast,
      externalId: `demo:${title} (${year})`,
    }
  })
}
