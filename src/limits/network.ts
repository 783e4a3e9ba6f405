// Whom an address stands for: one IPv4 address, or a whole IPv6 /64, which is what one subscriber has to hop about in.
import { isIPv4, isIPv6 } from 'node:net'

// Some proxies write the client's port along; kept, every connection would be a new address.
const WITH_PORT = /^(?:\[([^\]]+)\]|([0-9.]+))(?::\d+)?$/
// What is no address comes from a broken proxy and counts as one.
const UNREADABLE = 'unreadable'

export function network(given: string): string {
  const [, six, four] = WITH_PORT.exec(given) ?? []
  const address = six ?? four ?? given
  if (isIPv4(address)) return address
  if (!isIPv6(address)) return UNREADABLE
  const groups = groupsOf(address)
  // ::ffff:a.b.c.d is how a socket of both families calls an IPv4 client.
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) return dotted(groups)
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** Eight numbers; the parser of URLs knows every way to write them. */
function groupsOf(address: string): number[] {
  const canonical = new URL(`http://[${address.split('%', 1)[0]}]`).hostname.slice(1, -1)
  const [head = '', tail = ''] = canonical.split('::')
  const [front, back] = [head, tail].map((part) => part.split(':').filter(Boolean))
  const zeros = 8 - (front?.length ?? 0) - (back?.length ?? 0)
  return [...(front ?? []), ...Array.from({ length: zeros }, () => '0'), ...(back ?? [])].map((group) =>
    Number.parseInt(group, 16),
  )
}

function dotted(groups: number[]): string {
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.')
}
