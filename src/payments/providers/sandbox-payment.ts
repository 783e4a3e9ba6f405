// A payment in the sandbox's own books.
import type { Tx } from '#database/connect.ts'
import type { ProviderPayment } from './provider.ts'

export type SandboxPayment = {
  id: string
  merchantReference: string
  amountMinor: number
  currency: string
  description: string
  returnUrl: string | null
  status: 'OPEN' | 'AUTHORISED' | 'CAPTURED' | 'DECLINED' | 'VOIDED' | 'EXPIRED'
  capturedMinor: number
  refundedMinor: number
  disputedMinor: number
  faults: string[]
  sessionExpiresAt: string
}

/** A session whose time is over is EXPIRED from that moment, without anybody having been there. */
export async function findSandboxPayment(tx: Tx, id: string): Promise<SandboxPayment | null> {
  const [row] = await tx<SandboxPayment[]>`
    select id, merchant_reference, amount_minor, currency, description, return_url, captured_minor, refunded_minor, disputed_minor, faults,
      session_expires_at,
      case when status = 'OPEN' and session_expires_at <= (select holdfast_now() offset 0) then 'EXPIRED' else status end as status
    from sandbox_payments where id = ${id}`
  return row ?? null
}

/** As the seam says it. */
export function asProviderPayment(payment: SandboxPayment): ProviderPayment {
  const { id, merchantReference, status, amountMinor, currency, capturedMinor, refundedMinor, disputedMinor } = payment
  return {
    providerPaymentId: id,
    paymentId: merchantReference,
    ...{ status, amountMinor, currency, capturedMinor, refundedMinor, disputedMinor },
  }
}
