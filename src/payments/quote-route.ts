// What a hold would cost with a promo code and a gift voucher, line by line and each step named: shown before the checkout, which decides.
import Type from 'typebox'
import { type App, closed, IdParam, Money, problems } from '#core/http.ts'
import type { Sql } from '#database/connect.ts'
import { findHold } from '#holds/read-hold.ts'
import type { Quote } from '#pricing/quote.ts'
import { judgePromotions } from '#promotions/judge-promotions.ts'

const Code = Type.Optional(Type.String({ minLength: 1, maxLength: 64 }))
const Part = Type.Object({ label: Type.String(), amount: Money })

const QuoteReply = Type.Object({
  amount: Money,
  tax: Money,
  discount: Money,
  voucher: Money,
  toPay: Money,
  lines: Type.Array(
    Type.Object({
      seat: Type.Union([Type.String(), Type.Null()]),
      category: Type.String(),
      ticketType: Type.String(),
      amount: Money,
      parts: Type.Array(Part, { description: 'How it came about, in this order; they sum to the amount.' }),
      discount: Money,
      voucher: Money,
    }),
  ),
})

export function quoteRoute(app: App, { sql }: { sql: Sql }): void {
  app.post(
    '/v1/holds/:id/quote',
    {
      schema: {
        operationId: 'quoteHold',
        summary: 'What a hold costs, explained',
        description:
          'With the codes the buyer would check out with. Nothing is taken yet: the checkout may find a code used up.',
        tags: ['Payments'],
        params: IdParam,
        body: Type.Union([closed({ promoCode: Code, voucherCode: Code }), Type.Null()]),
        response: {
          200: QuoteReply,
          ...problems(
            'NOT_FOUND',
            'INVALID_REQUEST',
            'PROMO_CODE_INVALID',
            'PROMO_CODE_USED_UP',
            'VOUCHER_INVALID',
            'VOUCHER_EMPTY',
          ),
        },
      },
    },
    async (request) => {
      const { inventoryId, customerId, currency, quote } = await findHold(sql, request.params.id, request)
      const { lines, totalMinor, taxMinor = 0 } = quote as Quote
      const linesMinor = lines.map(({ amountMinor }) => amountMinor)
      const order = { inventoryId, customerId, currency, linesMinor }
      const { discountsMinor, vouchersMinor } = await judgePromotions(sql, order, request.body ?? {})
      const money = (amount: number) => ({ amount, currency })
      const [discount, voucher] = [discountsMinor, vouchersMinor].map((shares) => shares.reduce((a, b) => a + b, 0))
      return {
        amount: money(totalMinor),
        tax: money(taxMinor),
        discount: money(discount ?? 0),
        voucher: money(voucher ?? 0),
        toPay: money(totalMinor - (discount ?? 0) - (voucher ?? 0)),
        lines: lines.map(({ seat = null, category, ticketType = 'ADULT', amountMinor, parts }, index) => ({
          seat,
          category,
          ticketType,
          amount: money(amountMinor),
          parts: parts.map(({ label, amountMinor: partMinor }) => ({ label, amount: money(partMinor) })),
          discount: money(discountsMinor[index] ?? 0),
          voucher: money(vouchersMinor[index] ?? 0),
        })),
      }
    },
  )
}
