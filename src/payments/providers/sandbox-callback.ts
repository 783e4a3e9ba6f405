// The messages of the sandbox: what it says to the merchant, and how the merchant reads it.
import { randomUUID } from 'node:crypto'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import type { CallbackFacts } from './provider.ts'
import type { SandboxPayment } from './sandbox-payment.ts'

export type SandboxEvent = 'authorised' | 'captured' | 'declined' | 'voided' | 'refunded' | 'refund_failed' | 'disputed'
/** stale: its time is too old; old_secret: the one that goes out of use. */
export type Signing = 'right' | 'forged' | 'old_secret' | 'stale'
const KINDS: Record<SandboxEvent, CallbackFacts['kind']> = {
  authorised: 'AUTHORISED',
  captured: 'CAPTURED',
  declined: 'FAILED',
  voided: 'VOIDED',
  refunded: 'REFUNDED',
  refund_failed: 'REFUND_FAILED',
  disputed: 'DISPUTED',
}

export type SandboxMessage = {
  type: string
  data: {
    payment: string
    merchantReference: string | null
    amount: number
    currency: string
    movement: string | null
  }
}

export function sandboxMessage(
  event: SandboxEvent,
  payment: Pick<SandboxPayment, 'id' | 'merchantReference' | 'amountMinor' | 'currency'>,
  movement: string | null = null,
): SandboxMessage {
  const { id, merchantReference, amountMinor, currency } = payment
  const data = { payment: id, merchantReference, amount: amountMinor, currency, movement }
  return { type: `payment.${event}`, data }
}

/** Part of the transaction that moved the sandbox's money. Delivered from then on until the merchant says 2xx. */
export async function queueMessage(
  tx: Tx,
  message: SandboxMessage,
  { afterMs = 0, copies = 1, signing = 'right' }: { afterMs?: number; copies?: number; signing?: Signing } = {},
): Promise<void> {
  await tx`
    insert into sandbox_callbacks (id, payment_id, body, copies, signing, next_attempt_at)
    values (${`evt_${randomUUID()}`}, ${message.data.payment}, ${JSON.stringify(message)}, ${copies}, ${signing},
      holdfast_now() + ${afterMs} * interval '1 ms')`
}

/** The bytes are signed by the sandbox; that does not make them sensible. Throws CALLBACK_UNREADABLE. */
export function readMessage(eventId: string, rawBody: Buffer): CallbackFacts {
  const message = parse(rawBody)
  const { type, data } = message
  const sensible =
    typeof type === 'string' &&
    typeof data?.payment === 'string' &&
    (data.merchantReference === null || typeof data.merchantReference === 'string') &&
    Number.isSafeInteger(data.amount) &&
    typeof data.currency === 'string' &&
    (data.movement === null || typeof data.movement === 'string')
  if (!sensible || hasNul(eventId, data.payment, data.currency)) throw new Problem('CALLBACK_UNREADABLE')
  const event = type.replace(/^payment\./, '')
  return {
    eventId,
    kind: Object.hasOwn(KINDS, event) ? KINDS[event as SandboxEvent] : 'OTHER',
    providerPaymentId: data.payment,
    paymentId: data.merchantReference,
    amountMinor: data.amount,
    currency: data.currency,
    movementKey: data.movement,
  }
}

function parse(rawBody: Buffer): SandboxMessage {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(rawBody))
    if (parsed !== null && typeof parsed === 'object') return parsed as SandboxMessage
  } catch {}
  throw new Problem('CALLBACK_UNREADABLE')
}

function hasNul(...texts: string[]): boolean {
  return texts.some((text) => text.includes('\0') || !text.isWellFormed())
}
