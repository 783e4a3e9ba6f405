// Signed texts of the waiting room: the ticket that says where a visitor stands, and the admission that lets them in. Both prove themselves, so that a
// store that lost everything can be filled again by those who come back with them. Neither is of use without the session it was made for.
import { timingSafeEqual } from 'node:crypto'
import type { Mac } from '#identity/mac.ts'
import type { Admission } from './room-store.ts'

const TICKET = /^wait_([1-9][0-9]{0,14})_([0-9]{1,9})_([A-Za-z0-9_-]{22})_([0-9]{1,16})_([A-Za-z0-9_-]{22})$/
const PASS =
  /^adm_([1-9][0-9]{0,14})_([0-9]{1,9})_([A-Za-z0-9_-]{22})_([0-9]{1,16})_([0-9]{1,14})_([0-9]{1,14})_([A-Za-z0-9_-]{22})$/

/** `joinedUs`: microseconds of the store's clock, the place among those who came after the opening; 0 for those the draw places. */
export type Ticket = { inventoryId: number; round: number; visitor: string; joinedUs: number }
export type SignedAdmission = Admission & { inventoryId: number; round: number; visitor: string }

/** One customer is one visitor of a round, in every tab and process. Says nothing about the customer to others. */
export function visitorOf(mac: Mac, inventoryId: number, round: number, customerId: string): string {
  return sign(mac, `visitor.${inventoryId}.${round}.${customerId}`)
}

export function writeTicket(mac: Mac, { inventoryId, round, visitor, joinedUs }: Ticket): string {
  const facts = `${inventoryId}_${round}_${visitor}_${joinedUs}`
  return `wait_${facts}_${sign(mac, `ticket.${facts}`)}`
}

/** Null for what is malformed or not ours. Whose it is, the caller compares. */
export function readTicket(mac: Mac, text: string): Ticket | null {
  const [, inventoryId = '', round = '', visitor = '', joinedUs = '', given = ''] = TICKET.exec(text) ?? []
  if (!same(given, sign(mac, `ticket.${inventoryId}_${round}_${visitor}_${joinedUs}`))) return null
  return { inventoryId: Number(inventoryId), round: Number(round), visitor, joinedUs: Number(joinedUs) }
}

export function writeAdmission(mac: Mac, admission: SignedAdmission): string {
  const { inventoryId, round, visitor, no, untilMs, endMs } = admission
  const facts = `${inventoryId}_${round}_${visitor}_${no}_${untilMs}_${endMs}`
  return `adm_${facts}_${sign(mac, `admission.${facts}`)}`
}

/** Null for what is malformed or not ours. Whether it is over, only a clock says. */
export function readAdmission(mac: Mac, text: string): SignedAdmission | null {
  const [, inventoryId = '', round = '', visitor = '', no = '', untilMs = '', endMs = '', given = ''] =
    PASS.exec(text) ?? []
  const facts = `${inventoryId}_${round}_${visitor}_${no}_${untilMs}_${endMs}`
  if (!same(given, sign(mac, `admission.${facts}`))) return null
  const numbers = { no: Number(no), untilMs: Number(untilMs), endMs: Number(endMs) }
  return { inventoryId: Number(inventoryId), round: Number(round), visitor, ...numbers }
}

// Half of the HMAC: 128 bits.
function sign(mac: Mac, text: string): string {
  return mac(text).subarray(0, 16).toString('base64url')
}

function same(given: string, right: string): boolean {
  return given.length === right.length && timingSafeEqual(Buffer.from(given), Buffer.from(right))
}
