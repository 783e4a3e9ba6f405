// Which addresses a partner may have us call: the public internet and nothing behind our own door. Judged by the address, never by how a name looks.
import { lookup as systemLookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { Problem } from '#core/problem.ts'

export type Resolve = (hostname: string) => Promise<{ address: string; family: number }[]>
export type Reach = {
  /** http, and addresses inside the network: for trying out. */
  allowPrivate: boolean
  resolve: Resolve
}

const URL_MAX_LENGTH = 2_000

// IANA's special-purpose registry: this host, private, carrier NAT, loopback, link-local (where clouds keep their metadata), documentation, 6to4 relays,
// benchmarking, multicast, reserved.
const NOT_PUBLIC_4: [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]
// Of IPv6 only what is handed out to the public (2000::/3), without tunnels that carry an IPv4 address in disguise and without documentation.
const NOT_PUBLIC_6: [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]
const closed = new BlockList()
for (const [net, bits] of NOT_PUBLIC_4) closed.addSubnet(net, bits, 'ipv4')
for (const [net, bits] of NOT_PUBLIC_6) closed.addSubnet(net, bits, 'ipv6')
const handedOut = new BlockList()
handedOut.addSubnet('2000::', 3, 'ipv6')

export function isPublicAddress(address: string): boolean {
  if (address.includes('%')) return false
  const version = isIP(address)
  if (version === 4) return !closed.check(address, 'ipv4')
  return version === 6 && handedOut.check(address, 'ipv6') && !closed.check(address, 'ipv6')
}

export const resolveBySystem: Resolve = (hostname) => systemLookup(hostname, { all: true })

export function reachOf({ webhookAllowPrivate }: { webhookAllowPrivate: 'on' | 'off' }): Reach {
  return { allowPrivate: webhookAllowPrivate === 'on', resolve: resolveBySystem }
}

/**
 * Reads an address a partner gives; the URL parser has already made 127.0.0.1 of 2130706433 and 0x7f.1. Throws WEBHOOK_URL_REFUSED with the reason.
 */
export function readTarget(text: string, { allowPrivate }: Pick<Reach, 'allowPrivate'>): URL {
  const url = URL.canParse(text) && text.length <= URL_MAX_LENGTH ? new URL(text) : refuse('it is no address')
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:')) refuse('it must begin with https://')
  if (url.username || url.password) refuse('a user name in it would be sent to whoever answers')
  if (url.hash) refuse('it has a fragment, which is never sent')
  if (!allowPrivate && isIP(bareHost(url)) && !isPublicAddress(bareHost(url)))
    refuse('it is not on the public internet')
  return url
}

/** Every address of the name; one that is not public spoils them all. Throws WEBHOOK_URL_REFUSED. */
export async function resolveTarget(hostname: string, { allowPrivate, resolve }: Reach) {
  const found = await resolve(hostname).catch(() => [])
  if (found.length === 0) refuse('its name is not known')
  if (!allowPrivate && found.some(({ address }) => !isPublicAddress(address)))
    refuse('it is not on the public internet')
  return found
}

/** Without the brackets of an IPv6 address. */
export function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

function refuse(reason: string): never {
  throw new Problem('WEBHOOK_URL_REFUSED', { reason })
}
