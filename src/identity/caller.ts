// Who is asking, and what that allows. Set on every request by recognise-caller.ts before anything else looks at it.
import type { FastifyRequest } from 'fastify'
import { newUuid } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'

export type Role = 'admin' | 'box_office' | 'partner' | 'scanner'

export type Caller =
  | { kind: 'anonymous' }
  | { kind: 'customer'; customerId: string }
  /** `actsFor` is the full customer id of the customer this key names, null without one. */
  | { kind: 'key'; keyId: number; name: string; roles: Role[]; actsFor: string | null }

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
    /** From the header Hold-Token or a Bearer `ht_...`; well-formed, not yet compared with anything. */
    holdToken: string | null
  }
}

/**
 * The customer this request acts for. A box office or admin key that names none acts for a customer of its own that lives for this request.
 * Throws UNAUTHENTICATED (nobody, or a partner that names no customer) or FORBIDDEN (a scanner).
 */
export function requireCustomer({ caller }: FastifyRequest): string {
  if (caller.kind === 'customer') return caller.customerId
  if (caller.kind === 'anonymous') throw new Problem('UNAUTHENTICATED')
  if (isStaff(caller)) return caller.actsFor ?? `staff-${caller.keyId}-${newUuid()}`
  if (!caller.roles.includes('partner')) throw new Problem('FORBIDDEN')
  if (caller.actsFor) return caller.actsFor
  throw new Problem('UNAUTHENTICATED', { detail: 'Name your customer in the header Holdfast-Customer.' })
}

/** Throws UNAUTHENTICATED when no key was sent, FORBIDDEN when it has none of these roles (also for a customer's session). */
export function requireRole({ caller }: FastifyRequest, ...roles: Role[]): Extract<Caller, { kind: 'key' }> {
  if (caller.kind === 'anonymous') throw new Problem('UNAUTHENTICATED')
  if (caller.kind !== 'key' || !caller.roles.some((role) => roles.includes(role))) throw new Problem('FORBIDDEN')
  return caller
}

/** Sells for anybody, without the limits a customer has. */
export function isStaff(caller: Caller): boolean {
  return caller.kind === 'key' && (caller.roles.includes('admin') || caller.roles.includes('box_office'))
}

/** Whether what belongs to this customer may be seen and changed; a no is answered by 404, as if it did not exist. */
export function mayAct(caller: Caller, customerId: string): boolean {
  if (caller.kind === 'anonymous') return false
  if (caller.kind === 'customer') return caller.customerId === customerId
  if (isStaff(caller)) return true
  if (!caller.roles.includes('partner')) return false
  return caller.actsFor ? caller.actsFor === customerId : customerId.startsWith(`partner-${caller.keyId}-`)
}

/** Whose idempotency keys and attempts these are; two callers never share one. */
export function callerIdentity(caller: Caller): string {
  if (caller.kind === 'customer') return caller.customerId
  if (caller.kind === 'key') return caller.actsFor ?? `key-${caller.keyId}`
  return 'anonymous'
}
