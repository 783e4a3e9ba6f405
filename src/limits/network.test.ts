// Whom an address stands for, however it is written.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { network } from './network.ts'

test('network: IPv4 alone, IPv4 in IPv6 as IPv4, IPv6 by its first half, a port is no part of it', () => {
  for (const [address, expected] of [
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:40312', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:0207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
    ['[::ffff:192.0.2.7]:443', '192.0.2.7'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['[2001:db8::1]:40312', '2001:db8:0:0::/64'],
    ['2001:0DB8:0000:0000:ffff::1', '2001:db8:0:0::/64'],
    ['2001:db8:a:b:c:d:e:f', '2001:db8:a:b::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['unknown', 'unreadable'],
    ['_hidden:4711', 'unreadable'],
    ['192.0.2.7.evil.example', 'unreadable'],
    ['', 'unreadable'],
  ] as const)
    assert.equal(network(address), expected, address)
})
