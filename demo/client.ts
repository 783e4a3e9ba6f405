// A small HTTP client for the demonstrations: JSON in, JSON out, a customer's token on every request.
export type Answer = { status: number; body: Body; headers: Headers }
// biome-ignore lint/suspicious/noExplicitAny: a demonstration reads answers of every shape.
export type Body = any

export type Customer = {
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

/** `path` may be a whole address. Throws when there is no answer. */
export async function ask(
  base: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const url = path.startsWith('http') ? path : `${base}${path}`
  const reply = await fetch(url, {
    method,
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await reply.text()
  return { status: reply.status, body: text.startsWith('{') ? JSON.parse(text) : text, headers: reply.headers }
}

/** Opens an anonymous session. */
export async function newCustomer(base: string): Promise<Customer> {
  const { body } = await ask(base, 'POST', '/v1/sessions')
  const authorization = `Bearer ${body.token}`
  return { ask: (method, path, sent, headers) => ask(base, method, path, sent, { authorization, ...headers }) }
}
