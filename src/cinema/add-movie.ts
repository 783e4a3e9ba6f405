// Adds a film. Two films may have one name; title and year tell them apart for people, the id for machines.
import type { Tx } from '#database/connect.ts'
import { cleanTitle } from './clean-title.ts'
import { foldText } from './fold-text.ts'

export type NewMovie = {
  title: string
  year?: number | null
  /** BCP 47, `en`. */
  language?: string | null
  minutes?: number | null
  certificate?: string | null
  genres?: string[]
  cast?: string[]
  externalId?: string
}

/** Answers the id. Markup and no-break spaces in the title are taken out. */
export async function addMovie(tx: Tx, movie: NewMovie): Promise<number> {
  const title = cleanTitle(movie.title)
  const [row] = await tx<{ id: number }[]>`
    insert into movies (title, year, language, minutes, certificate, genres, cast_names, search_text, external_id)
    values (${title}, ${movie.year ?? null}, ${movie.language ?? null}, ${movie.minutes ?? null}, ${movie.certificate ?? null},
      ${movie.genres ?? []}::text[], ${movie.cast ?? []}::text[], ${foldText(title)}, ${movie.externalId ?? null})
    returning id`
  if (!row) throw new Error('insert into movies answered no row')
  return row.id
}
