// Strategy ticket_type {"ticketType": "CHILD", "amountMinor" | "basisPoints"}: child, senior, student. Naming one here is what makes it choosable.
import type { PricingStrategy } from './price-list.ts'
import { type Change, changeMinor, changeTerm, termsObject, textTerm } from './terms.ts'

const CODE = /^[A-Z][A-Z0-9_]{0,31}$/

export const ticketType: PricingStrategy<{ ticketType: string; change: Change }> = {
  read(terms) {
    const given = termsObject(terms, 'ticketType', 'amountMinor', 'basisPoints')
    const code = textTerm(given, 'ticketType')
    if (!CODE.test(code)) throw new RangeError('ticketType must be a code like CHILD')
    return { ticketType: code, change: changeTerm(given) }
  },
  amountMinor: (terms, ticket, _showing, soFarMinor) =>
    ticket.ticketType === terms.ticketType ? changeMinor(terms.change, soFarMinor) : null,
}
