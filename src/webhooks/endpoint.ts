// Where somebody wants to be told, and which events that is.
import type { FastifyRequest } from 'fastify'
import { formatNumbered, parseNumbered } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { requireRole } from '#identity/caller.ts'
import type { EventName } from '#outbox/event.ts'

export type EndpointStatus = 'ACTIVE' | 'DISABLED'
export type Endpoint = {
  id: number
  keyId: number
  /** An admin's: hears of every booking. A partner's hears of its own customers' bookings. */
  allBookings: boolean
  url: string
  description: string
  /** Null: all there are, also those that come later. */
  eventNames: EventName[] | null
  status: EndpointStatus
  /** Why it was disabled by us. */
  note: string | null
  failingSince: string | null
  previousUntil: string | null
  createdAt: string
}
/** Who manages: a partner its own endpoints, an admin everybody's. */
export type Manager = { keyId: number; admin: boolean }

export const SECRET_BYTES = 32

/** Throws UNAUTHENTICATED, FORBIDDEN. */
export function managerOf(request: FastifyRequest): Manager {
  const { keyId, roles } = requireRole(request, 'partner', 'admin')
  return { keyId, admin: roles.includes('admin') }
}

/** Throws NOT_FOUND, also when it is somebody else's. `id` is the public one. */
export async function findEndpoint(tx: Tx, id: string, { keyId, admin }: Manager): Promise<Endpoint> {
  const [row] = await tx<Endpoint[]>`
    select ${endpointColumns(tx)} from webhook_endpoints w
    where id = ${parseNumbered('hook', id)} and (${admin} or key_id = ${keyId})`
  if (!row) throw new Problem('NOT_FOUND')
  return row
}

export function endpointColumns(tx: Tx) {
  return tx`w.id, w.key_id, w.all_bookings, w.url, w.description, w.event_names, w.status, w.note, w.failing_since, w.created_at,
    case when w.previous_until > holdfast_now() then w.previous_until end as previous_until`
}

/** Whether endpoint w wants event e about booking b: its filter, and whose customer it is (a partner's are called partner-<key>-...). */
export function wants(tx: Tx) {
  return tx`(w.event_names is null or e.name = any (w.event_names))
    and (w.all_bookings or starts_with(b.customer_id, 'partner-' || w.key_id || '-'))`
}

/** As Standard Webhooks writes it. */
export function formatSecret(secret: Buffer): string {
  return `whsec_${secret.toString('base64')}`
}

export function formatEndpointId(id: number): string {
  return formatNumbered('hook', id)
}
