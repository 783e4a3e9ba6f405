// The environment is read once and strictly, and what is wrong is said in one sentence.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { configTable, loadConfig, VARIABLES } from './config.ts'

test('nothing set: the documented defaults, frozen', () => {
  const config = loadConfig({})
  assert.equal(config.port, 3000)
  assert.equal(config.host, '127.0.0.1')
  assert.equal(config.publicUrl, 'http://localhost:3000')
  assert.equal(config.holdTtlMs, 600_000)
  assert.equal(config.seatsPerHoldMax, 8)
  assert.equal(config.demoData, 'on')
  assert.deepEqual(config.corsOrigins, [])
  assert.ok(Object.isFrozen(config))
  assert.equal(Object.keys(config).length, VARIABLES.length)
})

test('values are read as their type, an empty one is the default', () => {
  const config = loadConfig({
    PORT: '8080',
    SWEEP_INTERVAL_MS: '0',
    LOG_LEVEL: '',
    PUBLIC_URL: 'https://tickets.example.com/',
    CORS_ORIGINS: 'https://a.example, https://b.example',
    TRUST_PROXY: 'loopback,10.0.0.0/8,::1',
  })
  assert.equal(config.port, 8080)
  assert.equal(config.sweepIntervalMs, 0)
  assert.equal(config.logLevel, 'info')
  assert.equal(config.publicUrl, 'https://tickets.example.com')
  assert.deepEqual(config.corsOrigins, ['https://a.example', 'https://b.example'])
  assert.deepEqual(config.trustProxy, ['loopback', '10.0.0.0/8', '::1'])
})

const WRONG: [string, string, RegExp][] = [
  ['PORT', '65536', /^PORT is "65536", but must be a whole number from 0 to 65535\.$/],
  ['PORT', '3e3', /^PORT is "3e3"/],
  ['PORT', '-1', /^PORT is "-1"/],
  ['HOLD_TTL_MS', '0', /^HOLD_TTL_MS is "0"/],
  ['HOLD_TTL_MS', '10m', /^HOLD_TTL_MS is "10m"/],
  ['HOLD_TTL_MS', '1800001', /^HOLD_TTL_MS is 1800001, but must not exceed HOLD_LIFE_MAX_MS \(1800000\)\.$/],
  ['PAYMENT_SESSION_TTL_MS', '1700000', /^PAYMENT_SESSION_TTL_MS and PAYMENT_BUFFER_MS are 1820000 together/],
  ['SWEEP_INTERVAL_MS', '2147483648', /^SWEEP_INTERVAL_MS is "2147483648"/],
  ['DEMO_DATA', 'yes', /^DEMO_DATA is "yes", but must be on or off\.$/],
  ['LOG_LEVEL', 'loud', /^LOG_LEVEL is "loud", but must be fatal or error/],
  ['PUBLIC_URL', 'tickets.example.com', /^PUBLIC_URL is "tickets.example.com"/],
  ['PUBLIC_URL', 'ftp://example.com', /^PUBLIC_URL is/],
  ['TRUST_PROXY', '10.0.0.0/33', /^TRUST_PROXY is/],
  ['CORS_ORIGINS', 'https://a.example/path', /^CORS_ORIGINS is/],
  ['CORS_ORIGINS', '*', /^CORS_ORIGINS is/],
  ['MAIL_FROM', 'Ann <ann@example.org>, bob@example.org', /^MAIL_FROM is/],
  ['HOLDFAST_MODE', 'production', /^PUBLIC_URL is not set, but in production/],
]

for (const [name, value, sentence] of WRONG)
  test(`${name}=${value} is refused in one sentence`, () => {
    assert.throws(() => loadConfig({ [name]: value }), { name: 'StartRefused', message: sentence })
  })

test('a wrong secret is refused without being shown', () => {
  for (const name of ['DATABASE_URL', 'HOLDFAST_ADMIN_KEY', 'SMTP_URL'])
    assert.throws(
      () => loadConfig({ [name]: 'mysql://u:pw' }),
      (error: Error) =>
        error.message.startsWith(`${name} is set to something, but must be`) && !error.message.includes('pw'),
    )
})

test('production loads no demo data unless it is asked for', () => {
  const production = { HOLDFAST_MODE: 'production', PUBLIC_URL: 'https://tickets.example.com' }
  assert.equal(loadConfig(production).demoData, 'off')
  assert.equal(loadConfig({ ...production, DEMO_DATA: 'on' }).demoData, 'on')
})

test('an unknown HOLDFAST_ variable is warned about, other variables are none of our business', () => {
  const warnings: string[] = []
  loadConfig({ HOLDFAST_DATE: '/tmp', HOLDFAST_TEST_PG: '{}', HOME: '/root' }, (sentence) => warnings.push(sentence))
  assert.equal(warnings.length, 1)
  assert.match(warnings[0] ?? '', /^HOLDFAST_DATE is set/)
})

test('docs/configuration.md has the table as it is', () => {
  const page = readFileSync(new URL('../docs/configuration.md', import.meta.url), 'utf8')
  assert.ok(page.includes(configTable()), `put this table into docs/configuration.md:\n${configTable()}`)
})
