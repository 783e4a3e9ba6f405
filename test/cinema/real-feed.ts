// The real box-office feed, as it is and with something changed.
import { readFileSync } from 'node:fs'

export const FEED = readFileSync(
  new URL('../../data/cinema/cinema_pos_feed_4_screens_8_days.json', import.meta.url),
  'utf8',
)

export type Feed = {
  Installation: Record<string, unknown>
  Sessions: Record<string, unknown>[]
  Movies: Record<string, unknown>[]
}

/** As JSON text. */
export function changedFeed(change: (feed: Feed) => void): string {
  const feed = JSON.parse(FEED) as Feed
  change(feed)
  return JSON.stringify(feed)
}
