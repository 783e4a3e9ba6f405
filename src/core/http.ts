// What every door is made of: the type of the server, the schemas that all rooms share, and how a route says which refusals it may answer.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import Type, { type Static, type TSchema, type TUnsafe } from 'typebox'
import { PROBLEMS, type ProblemCode } from './problem.ts'

/** A room's routes are one function of it: `xxxRoutes(app: App, parts): void`. */
export type App = FastifyInstance<
  RawServerDefault,
  import('node:http').IncomingMessage,
  import('node:http').ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

const namedSchemas = new Map<string, TSchema>()

/** A schema that stands once in the OpenAPI document, under this name, and is referred to wherever it is used. Names are unique. */
export function named<T extends TSchema>(name: string, schema: T): TUnsafe<Static<T>> {
  if (namedSchemas.has(name)) throw new Error(`two schemas are called ${name}`)
  namedSchemas.set(name, { $id: name, ...schema })
  return Type.Unsafe<Static<T>>({ $ref: `${name}#` })
}

/** Every schema named so far; app.ts hands them to the server before the first route. */
export function allNamedSchemas(): TSchema[] {
  return [...namedSchemas.values()]
}

/** A closed object: an unknown field is refused, never ignored. */
export function closed<T extends Parameters<typeof Type.Object>[0]>(properties: T) {
  return Type.Object(properties, { additionalProperties: false })
}

export const Money = named(
  'Money',
  Type.Object(
    {
      amount: Type.Integer({ description: 'In the minor unit of the currency (JPY has none, KWD has three digits).' }),
      currency: Type.String({ description: 'ISO 4217' }),
    },
    { examples: [{ amount: 25000, currency: 'INR' }] },
  ),
)

export const Time = Type.String({ format: 'date-time', description: 'RFC 3339, UTC' })

/** RFC 9457, with the facts of the refusal beside the code. */
export const ProblemDocument = named(
  'Problem',
  Type.Object(
    {
      type: Type.String(),
      title: Type.String(),
      status: Type.Integer(),
      code: Type.String({ description: 'Stable, upper-case; what a program decides by.' }),
      detail: Type.Optional(Type.String()),
      retryAfterSeconds: Type.Optional(Type.Integer()),
      requestId: Type.String(),
    },
    { additionalProperties: true, description: 'Why not: RFC 9457, with the facts beside the code.' },
  ),
)

export const IdParam = closed({ id: Type.String({ maxLength: 100 }) })

export const PAGE_SIZE_MAX = 100
export const PAGE_SIZE = 50

/** Query parameters of a paged list; spread into the list's own: `closed({ ...PageQuery, q: ... })`. */
export const PageQuery = {
  cursor: Type.Optional(
    Type.String({ maxLength: 200, description: 'nextCursor of the page before; absent: the first page.' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX, default: PAGE_SIZE })),
}

/** `{ items, nextCursor }`; nextCursor is null on the last page. */
export function Page<T extends TSchema>(item: T) {
  return Type.Object({ items: Type.Array(item), nextCursor: Type.Union([Type.String(), Type.Null()]) })
}

type ProblemReply = { description: string; content: { 'application/problem+json': { schema: typeof ProblemDocument } } }

/** The `response` entries of a route's own refusals, one a status, each naming its codes; what any request may meet stands under `default`. */
export function problems(...codes: ProblemCode[]): Record<number | 'default', ProblemReply> {
  const replies: Record<number | 'default', ProblemReply> = { default: problemReply('Any other refusal; see `code`.') }
  for (const status of new Set(codes.map((code) => PROBLEMS[code][0]))) {
    const here = codes.filter((code) => PROBLEMS[code][0] === status)
    replies[status] = problemReply(here.map((code) => `\`${code}\`: ${PROBLEMS[code][1]}`).join('\n\n'))
  }
  return replies
}

function problemReply(description: string): ProblemReply {
  return { description, content: { 'application/problem+json': { schema: ProblemDocument } } }
}
