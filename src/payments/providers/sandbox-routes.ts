// The sandbox's payment page: for a buyer with a browser a small form, for a script two POSTs without a body.
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { type App, closed, Money, problems, Time } from '#core/http.ts'
import { formatMoney } from '#core/money.ts'
import { escapeHtml, sendPage } from '#core/page.ts'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { MESSAGE_FAULTS } from './sandbox-faults.ts'
import { findSandboxPayment, type SandboxPayment } from './sandbox-payment.ts'
import { declineSession, paySession } from './sandbox-session.ts'

type Parts = { sql: Sql; wake: (worker: string) => void }

const DELAY_MAX_MS = 259_200_000
const params = closed({ id: Type.String({ pattern: '^sbx_[0-9a-f]{32}$' }) })
const PayBody = closed({
  fault: Type.Optional(
    Type.Enum([...MESSAGE_FAULTS], { description: 'What is to go wrong with the message about it.' }),
  ),
  callbackAfterMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: DELAY_MAX_MS,
      description: 'Delays the message; longer than the hold: the money comes too late.',
    }),
  ),
})
const SandboxState = Type.Object({
  id: Type.String(),
  status: Type.Enum(['OPEN', 'AUTHORISED', 'CAPTURED', 'DECLINED', 'VOIDED', 'EXPIRED']),
  amount: Money,
  expiresAt: Time,
})
const tags = ['Sandbox']
const response = {
  200: SandboxState,
  303: { description: 'Back to the page, for a browser.' },
  ...problems('NOT_FOUND', 'PAYMENT_NOT_OPEN'),
}

export function sandboxRoutes(app: App, { sql, wake }: Parts): void {
  app.get(
    '/sandbox/pay/:id',
    {
      schema: {
        operationId: 'showSandboxPayment',
        summary: 'The payment page',
        tags,
        params,
        response: {
          200: { description: 'HTML', content: { 'text/html': { schema: Type.String() } } },
          ...problems('NOT_FOUND'),
        },
      },
    },
    async (request, reply) => {
      const payment = await findSandboxPayment(sql, request.params.id)
      if (!payment) throw new Problem('NOT_FOUND')
      return sendPage(reply, 200, { title: 'Payment', body: paymentPage(payment) })
    },
  )

  app.post(
    '/sandbox/pay/:id/pay',
    {
      schema: {
        operationId: 'paySandboxPayment',
        summary: 'Pay, as the buyer',
        description: 'Without a body everything goes well. Paying twice is paying once.',
        tags,
        params,
        body: Type.Union([PayBody, Type.Null()]),
        response,
      },
    },
    async (request, reply) => answer(request, reply, await paySession(sql, request.params.id, request.body ?? {})),
  )

  app.post(
    '/sandbox/pay/:id/decline',
    { schema: { operationId: 'declineSandboxPayment', summary: 'Have the payment declined', tags, params, response } },
    async (request, reply) => answer(request, reply, await declineSession(sql, request.params.id)),
  )

  function answer(request: FastifyRequest, reply: FastifyReply, payment: SandboxPayment) {
    wake('sandbox-delivery')
    if (request.headers.accept?.includes('text/html'))
      return reply.code(303).header('location', `../${payment.id}`).send()
    const amount = { amount: payment.amountMinor, currency: payment.currency }
    return reply.send({ id: payment.id, status: payment.status, amount, expiresAt: payment.sessionExpiresAt })
  }
}

const SENTENCES: Record<SandboxPayment['status'], string> = {
  OPEN: '',
  AUTHORISED: 'Paid. The seller is being told; your tickets follow in a moment.',
  CAPTURED: 'Paid. Your tickets follow in a moment.',
  DECLINED: 'Declined. Nothing was charged. Your seats are kept for a while: go back and try again.',
  VOIDED: 'The seller has let the payment go. Nothing was charged.',
  EXPIRED: 'The time to pay is over. Nothing was charged.',
}

function paymentPage(payment: SandboxPayment): string {
  const { id, status, description, amountMinor, currency, sessionExpiresAt, returnUrl } = payment
  const until = `${sessionExpiresAt.slice(0, 10)} ${sessionExpiresAt.slice(11, 19)} UTC`
  const leave =
    returnUrl === null
      ? ''
      : `<p><a href="${escapeHtml(returnUrl)}">${status === 'OPEN' ? 'Leave without paying' : 'Back to your booking'}</a></p>`
  const buttons = `
<form method="post" action="${id}/pay"><button class="main">Pay ${escapeHtml(formatMoney({ amount: amountMinor, currency }))}</button></form>
<form method="post" action="${id}/decline"><button>Decline</button></form>`
  return `<h1>Payment</h1>
<p class="soft">This is the built-in sandbox: no money moves.</p>
<dl><dt>What</dt><dd>${escapeHtml(description)}</dd>
<dt>How much</dt><dd>${escapeHtml(formatMoney({ amount: amountMinor, currency }))}</dd>
<dt>Until when</dt><dd><time datetime="${sessionExpiresAt}">${until}</time></dd></dl>
${status === 'OPEN' ? buttons : `<p role="status"><strong>${SENTENCES[status]}</strong></p>`}
${leave}`
}
