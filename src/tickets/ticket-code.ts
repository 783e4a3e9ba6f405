// The code in the QR: `HF1.<payload>.<signature>`, base64url, signed with Ed25519, which a door verifies without a network.
// Payload, 26 bytes: key id (4), inventory (6), ticket (16). No name and no seat: a corrected name or a moved guest never makes a ticket invalid.
import { type KeyObject, sign, verify } from 'node:crypto'
import { KEY_ID_BYTES, type TicketKey } from './ticket-key.ts'

export type TicketClaim = { inventoryId: number; ticketId: string }
export type DoorKey = { keyId: Buffer; publicKey: KeyObject }

const PREFIX = 'HF1'
const INVENTORY_BYTES = 6
const UUID_BYTES = 16
const PAYLOAD_BYTES = KEY_ID_BYTES + INVENTORY_BYTES + UUID_BYTES
const SIGNATURE_BYTES = 64

export function writeTicketCode(key: TicketKey, { inventoryId, ticketId }: TicketClaim): string {
  const inventory = Buffer.alloc(INVENTORY_BYTES)
  inventory.writeUIntBE(inventoryId, 0, INVENTORY_BYTES)
  const payload = Buffer.concat([key.keyId, inventory, Buffer.from(ticketId.replaceAll('-', ''), 'hex')])
  const signed = `${PREFIX}.${payload.toString('base64url')}`
  return `${signed}.${sign(null, Buffer.from(signed), key.privateKey).toString('base64url')}`
}

/** What a code says, null when none of these keys signed exactly these letters: a second spelling of the same bytes is no ticket. */
export function readTicketCode(code: string, keys: DoorKey[]): TicketClaim | null {
  const [prefix, payloadText = '', signatureText = '', ...more] = code.split('.')
  if (prefix !== PREFIX || more.length > 0) return null
  const payload = decode(payloadText, PAYLOAD_BYTES)
  const signature = decode(signatureText, SIGNATURE_BYTES)
  if (!payload || !signature) return null
  const key = keys.find(({ keyId }) => keyId.equals(payload.subarray(0, KEY_ID_BYTES)))
  if (!key || !verify(null, Buffer.from(`${prefix}.${payloadText}`), key.publicKey, signature)) return null
  const hex = payload.subarray(KEY_ID_BYTES + INVENTORY_BYTES).toString('hex')
  return {
    inventoryId: payload.readUIntBE(KEY_ID_BYTES, INVENTORY_BYTES),
    ticketId: [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-'),
  }
}

function decode(text: string, bytes: number): Buffer | null {
  const decoded = Buffer.from(text, 'base64url')
  return decoded.length === bytes && decoded.toString('base64url') === text ? decoded : null
}
