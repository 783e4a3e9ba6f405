// What a price may depend on: the ticket and the showing it is for, where and when it is bought.

export const CHANNELS = ['WEB', 'PARTNER', 'BOX_OFFICE'] as const
export type Channel = (typeof CHANNELS)[number]

/** Who is admitted, where nobody says otherwise. */
export const ADULT = 'ADULT'

export type PricedTicket = { category: string; ticketType: string }

/** Day and time are the venue's, and the day is the programme's: a show at 00:35 still has Friday's price. */
export type PricedShowing = {
  /** `2026-12-04`. */
  businessDay: string
  /** `18:45`, on the clock of the venue. */
  localTime: string
  format: string
  /** Whole days from the venue's today to the day of the show; 0 where no rule asks for them. */
  daysBefore: number
  channel: Channel
}
