// Strategy channel {"channel": "BOX_OFFICE", "amountMinor" | "basisPoints"}: what it costs more or less to buy at the counter, or through a partner.
import type { PricingStrategy } from './price-list.ts'
import { CHANNELS, type Channel } from './priced-showing.ts'
import { type Change, changeMinor, changeTerm, termsObject, textTerm } from './terms.ts'

export const channel: PricingStrategy<{ channel: Channel; change: Change }> = {
  read(terms) {
    const given = termsObject(terms, 'channel', 'amountMinor', 'basisPoints')
    const named = CHANNELS.find((one) => one === textTerm(given, 'channel'))
    if (!named) throw new RangeError(`channel must be one of ${CHANNELS.join(', ')}`)
    return { channel: named, change: changeTerm(given) }
  },
  amountMinor: (terms, _ticket, showing, soFarMinor) =>
    showing.channel === terms.channel ? changeMinor(terms.change, soFarMinor) : null,
}
