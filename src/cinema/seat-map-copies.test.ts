// The map's copies: compressed once each under a tag of its own, and the layout for ever.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { smallHouse } from '#test/cinema/small-house.ts'

test('br before gzip before neither, each with its own strong tag, all the same map', async (t) => {
  const house = await smallHouse(t)
  const show = await house.show()
  const read = (accept: string, tag?: string) =>
    house.app.inject({
      url: `/v1/showtimes/${show}/seats`,
      headers: { 'accept-encoding': accept, ...(tag ? { 'if-none-match': tag } : {}) },
    })
  const plain = await read('identity')
  const zipped = await read('gzip')
  const brotli = await read('gzip, deflate, br')
  assert.deepEqual(
    [plain, zipped, brotli].map(({ headers }) => headers['content-encoding']),
    [undefined, 'gzip', 'br'],
  )
  assert.equal(gunzipSync(zipped.rawPayload).toString(), plain.body)
  assert.equal(brotliDecompressSync(brotli.rawPayload).toString(), plain.body)
  assert.ok(brotli.rawPayload.length < plain.rawPayload.length / 3)
  const tags = [plain, zipped, brotli].map(({ headers }) => String(headers.etag))
  assert.equal(new Set(tags).size, 3)
  for (const tag of tags) assert.match(tag, /^"[^"]+"$/)
  for (const { headers } of [plain, zipped, brotli]) assert.match(String(headers.vary), /Accept-Encoding/)
  assert.equal((await read('br', tags[2])).statusCode, 304)
  assert.equal((await read('gzip;q=0, identity')).headers['content-encoding'], undefined)

  // A change changes every copy's tag.
  await house.post(`/v1/showtimes/${show}/holds`, { seats: ['B1'] }, house.customer())
  const after = await read('br', tags[2])
  assert.equal(after.statusCode, 200)
  const { seats } = JSON.parse(brotliDecompressSync(after.rawPayload).toString()) as {
    seats: { code: string; status: string }[]
  }
  assert.equal(seats.find(({ code }) => code === 'B1')?.status, 'HELD')
})

test('the layout of a version may be kept for ever; without a version it must be asked again', async (t) => {
  const house = await smallHouse(t)
  const show = await house.show()
  const map = await house.get(`/v1/showtimes/${show}/seats`)
  const layout = await house.get(`/v1/showtimes/${show}/layout?version=${map.body.layoutVersion}`)
  assert.match(String(layout.headers['cache-control']), /immutable/)
  assert.deepEqual(
    layout.body.seats.map(({ code }: { code: string }) => code),
    map.body.seats.map(({ code }: { code: string }) => code),
  )
  assert.match(String((await house.get(`/v1/showtimes/${show}/layout`)).headers['cache-control']), /no-cache/)
  assert.equal((await house.get(`/v1/showtimes/${show}/layout?version=999`)).status, 404)
})
