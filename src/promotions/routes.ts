// Promo codes and gift vouchers, made and looked after by administrators; the counter may issue vouchers.
import Type from 'typebox'
import { type App, closed, IdParam, Money, named, PAGE_SIZE, Page, PageQuery, problems, Time } from '#core/http.ts'
import { formatNumbered, parseNumbered } from '#core/ids.ts'
import { minorDigits } from '#core/money.ts'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { requireRole } from '#identity/caller.ts'
import { addPromoCode } from './add-promo-code.ts'
import { disablePromotion } from './disable-promotion.ts'
import { issueGiftVoucher } from './gift-voucher.ts'
import { listPromoCodes, listVouchers } from './list-promotions.ts'

const tags = ['Promotions']
const Count = Type.Integer({ minimum: 1, maximum: 2_000_000_000 })
const Minor = Type.Integer({ minimum: 1, maximum: 1_000_000_000_000 })
const Code = Type.String({ pattern: '^[A-Z0-9][A-Z0-9-]{2,31}$', examples: ['OPENING-NIGHT'] })
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])

const NewCode = closed({
  code: Code,
  label: Type.String({ minLength: 1, maxLength: 100 }),
  basisPoints: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, description: '10 % is 1000.' })),
  amount: Type.Optional(closed({ amount: Minor, currency: Type.String() })),
  orderMin: Type.Optional(closed({ amount: Minor, currency: Type.String() })),
  showtimeIds: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { minItems: 1, maxItems: 1_000 })),
  validFrom: Type.Optional(Time),
  validUntil: Type.Optional(Time),
  usesMax: Type.Optional(Count),
  usesPerCustomerMax: Type.Optional(Count),
})

const PromoCode = named(
  'PromoCode',
  Type.Object({
    code: Type.String(),
    label: Type.String(),
    basisPoints: orNull(Type.Integer()),
    amount: orNull(Money),
    uses: Type.Integer(),
    usesMax: orNull(Type.Integer()),
    usesPerCustomerMax: orNull(Type.Integer()),
    validFrom: orNull(Time),
    validUntil: orNull(Time),
    status: Type.Enum(['ACTIVE', 'DISABLED']),
  }),
)

const Voucher = {
  id: Type.String(),
  codeEnd: Type.String({ description: 'The last four letters of its code.' }),
  initial: Money,
  balance: Money,
  validUntil: orNull(Time),
  status: Type.Enum(['ACTIVE', 'DISABLED']),
}
const GiftVoucher = named('GiftVoucher', Type.Object(Voucher))

export function promotionRoutes(app: App, { sql }: { sql: Sql }): void {
  const refusals = problems('UNAUTHENTICATED', 'FORBIDDEN', 'INVALID_REQUEST', 'ALREADY_EXISTS', 'NOT_FOUND')

  app.post(
    '/v1/admin/promo-codes',
    {
      schema: {
        operationId: 'addPromoCode',
        summary: 'Make a promo code',
        description: 'A share (basisPoints) or an amount off; for all shows or some, for a time, so and so often.',
        tags,
        body: NewCode,
        response: { 201: Type.Object({ code: Type.String() }), ...refusals },
      },
    },
    async (request, reply) => {
      requireRole(request, 'admin')
      const { showtimeIds, ...rest } = request.body
      const inventoryIds = showtimeIds?.map((id) => parseNumbered('show', id))
      await addPromoCode(sql, { ...rest, ...(inventoryIds ? { inventoryIds } : {}) })
      return reply.code(201).send({ code: request.body.code })
    },
  )

  app.get(
    '/v1/admin/promo-codes',
    {
      schema: {
        operationId: 'listPromoCodes',
        summary: 'All promo codes, and how often each is used',
        tags,
        querystring: closed(PageQuery),
        response: { 200: Page(PromoCode), ...refusals },
      },
    },
    async (request) => {
      requireRole(request, 'admin')
      return listPromoCodes(sql, { ...request.query, limit: request.query.limit ?? PAGE_SIZE })
    },
  )

  app.delete(
    '/v1/admin/promo-codes/:id',
    {
      schema: {
        operationId: 'disablePromoCode',
        summary: 'Take a promo code off; orders that have it keep it',
        tags,
        params: IdParam,
        response: { 204: { description: 'It cannot be used any more.' }, ...refusals },
      },
    },
    async (request, reply) => {
      requireRole(request, 'admin')
      await disablePromotion(sql, { promoCode: request.params.id })
      return reply.code(204).send()
    },
  )

  app.post(
    '/v1/admin/gift-vouchers',
    {
      schema: {
        operationId: 'issueGiftVoucher',
        summary: 'Issue a gift voucher',
        description: 'The code is in this answer and nowhere else: it is as good as cash, and only its hash is kept.',
        tags,
        body: closed({
          amount: closed({ amount: Minor, currency: Type.String() }),
          validUntil: Type.Optional(Time),
        }),
        response: { 201: Type.Object({ id: Type.String(), code: Type.String() }), ...refusals },
      },
    },
    async (request, reply) => {
      const key = requireRole(request, 'admin', 'box_office')
      const { amount, validUntil } = request.body
      refuseCurrency(amount.currency)
      const { id, code } = await issueGiftVoucher(sql, {
        amountMinor: amount.amount,
        currency: amount.currency,
        createdBy: key.name,
        ...(validUntil ? { validUntil } : {}),
      })
      return reply.code(201).send({ id: formatNumbered('voucher', id), code })
    },
  )

  app.get(
    '/v1/admin/gift-vouchers',
    {
      schema: {
        operationId: 'listGiftVouchers',
        summary: 'Gift vouchers, newest first, with what is left on each',
        tags,
        querystring: closed(PageQuery),
        response: { 200: Page(GiftVoucher), ...refusals },
      },
    },
    async (request) => {
      requireRole(request, 'admin', 'box_office')
      return listVouchers(sql, { ...request.query, limit: request.query.limit ?? PAGE_SIZE })
    },
  )

  app.delete(
    '/v1/admin/gift-vouchers/:id',
    {
      schema: {
        operationId: 'disableGiftVoucher',
        summary: 'Block a gift voucher, such as a stolen one',
        tags,
        params: IdParam,
        response: { 204: { description: 'Nothing can be paid with it any more.' }, ...refusals },
      },
    },
    async (request, reply) => {
      requireRole(request, 'admin')
      await disablePromotion(sql, { voucherId: parseNumbered('voucher', request.params.id) })
      return reply.code(204).send()
    },
  )
}

/** INVALID_REQUEST for what ISO 4217 does not have. */
function refuseCurrency(currency: string): void {
  try {
    minorDigits(currency)
  } catch {
    const message = 'is no currency of ISO 4217'
    throw new Problem('INVALID_REQUEST', { errors: [{ path: '/amount/currency', message }] })
  }
}
