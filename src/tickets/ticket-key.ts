// The Ed25519 key pair that signs tickets: made once, kept with the installation's secrets; doors only ever get the public half.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { Tx } from '#database/connect.ts'
import { loadSecret } from '#identity/secrets.ts'

export type TicketKey = {
  /** The first 4 bytes of the public key's SHA-256: says in each code which key signed it, so that a key can be changed. */
  keyId: Buffer
  privateKey: KeyObject
  publicKey: KeyObject
}

export const KEY_ID_BYTES = 4

export async function loadTicketKey(sql: Tx): Promise<TicketKey> {
  const kept = await loadSecret(sql, 'ticket-key', () =>
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'der' }),
  )
  const privateKey = createPrivateKey({ key: kept, type: 'pkcs8', format: 'der' })
  const publicKey = createPublicKey(privateKey)
  return { keyId: keyIdOf(publicKey), privateKey, publicKey }
}

/** The 32 bytes of the public key, base64url, as a JWK's `x`. */
export function rawPublicKey(publicKey: KeyObject): string {
  return publicKey.export({ format: 'jwk' }).x ?? ''
}

function keyIdOf(publicKey: KeyObject): Buffer {
  return createHash('sha256')
    .update(Buffer.from(rawPublicKey(publicKey), 'base64url'))
    .digest()
    .subarray(0, KEY_ID_BYTES)
}
