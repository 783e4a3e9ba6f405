// How each kind of variable is read from its text, and what is said when it does not fit. Knows no variable by name.
import { isIP } from 'node:net'

/** `read` answers undefined for what is not allowed; `allowed` says what is. */
export type Reader<T> = { allowed: string; read: (text: string) => T | undefined }

export function whole(min: number, max: number): Reader<number> {
  return {
    allowed: `a whole number from ${min} to ${max}`,
    read: (given) => (/^\d{1,15}$/.test(given) && +given >= min && +given <= max ? +given : undefined),
  }
}

export function words<const W extends string>(...allowed: W[]): Reader<W> {
  return { allowed: allowed.join(' or '), read: (given) => allowed.find((word) => word === given) }
}

export function text(maxLength: number): Reader<string> {
  return { allowed: `1 to ${maxLength} characters`, read: (given) => (given.length <= maxLength ? given : undefined) }
}

export function adminKey(): Reader<string> {
  return {
    allowed: 'empty, or 24 to 200 visible ASCII characters',
    read: (given) => (given === '' || /^[\x21-\x7e]{24,200}$/.test(given) ? given : undefined),
  }
}

export function url(): Reader<string> {
  return {
    allowed: 'empty, or http(s)://host without query',
    read: (given) => (given === '' || isPublicUrl(given) ? given.replace(/\/+$/, '') : undefined),
  }
}

export function smtpUrl(): Reader<string> {
  return {
    allowed: 'empty, or smtp(s)://user:password@host:port',
    read: (given) => (given === '' || /^smtps?:$/.test(parseUrl(given)?.protocol ?? '') ? given : undefined),
  }
}

export function mailbox(): Reader<string> {
  return {
    allowed: 'empty, or an address such as tickets@example.com',
    read: (given) => (given === '' || /^[^\s@<>"]+@[^\s@<>"]+$/.test(given) ? given : undefined),
  }
}

export function databaseUrl(): Reader<string> {
  return {
    allowed: 'empty, or postgres://user:password@host:port/database',
    read: (given) => (given === '' || /^postgres(ql)?:$/.test(parseUrl(given)?.protocol ?? '') ? given : undefined),
  }
}

export function redisUrls(): Reader<string[]> {
  return {
    allowed: 'empty, or redis://user:password@host:port, several with commas between them',
    read(given) {
      const entries = given.split(',').flatMap((entry) => entry.trim() || [])
      return entries.every((entry) => /^rediss?:$/.test(parseUrl(entry)?.protocol ?? '')) ? entries : undefined
    },
  }
}

export function list(kind: string, fits: (entry: string) => boolean): Reader<string[]> {
  return {
    allowed: `empty, or ${kind} with commas between them`,
    read(given) {
      const entries = given.split(',').flatMap((entry) => entry.trim() || [])
      return entries.every(fits) ? entries : undefined
    },
  }
}

export function topic(): Reader<string> {
  return {
    allowed: '1 to 249 letters, digits, dots, _ or -',
    read: (given) => (/^[\w.-]{1,249}$/.test(given) ? given : undefined),
  }
}

export function isBroker(given: string): boolean {
  return /^[\w.-]+:\d{1,5}$|^\[[0-9a-f:]+\]:\d{1,5}$/i.test(given) && +(given.split(':').at(-1) ?? 0) <= 65_535
}

function isPublicUrl(given: string): boolean {
  const parsed = parseUrl(given)
  return parsed !== null && /^https?:$/.test(parsed.protocol) && !parsed.search && !parsed.hash && !parsed.username
}

export function isOrigin(given: string): boolean {
  return isPublicUrl(given) && parseUrl(given)?.origin === given
}

// What the server's proxy check understands: an address, a network, or one of these words.
export function isProxy(given: string): boolean {
  const [address = '', bits = '0', more] = given.split('/')
  const version = isIP(address)
  if (['loopback', 'linklocal', 'uniquelocal'].includes(given)) return true
  return version > 0 && more === undefined && /^\d{1,3}$/.test(bits) && +bits <= (version === 4 ? 32 : 128)
}

export function parseUrl(given: string): URL | null {
  return URL.canParse(given) ? new URL(given) : null
}
