// How answers become JSON: by their schema, so that nothing a schema does not name can leave, compiled when a route first answers. Compiling all of them at the
// start (some 150 routes, each with its problem documents) took two thirds of it.
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'

type BuildSerializer = ReturnType<typeof SerializerSelector>

const compilers = SerializerSelector()

export const serialiseWhenAsked: BuildSerializer = (externalSchemas, options) => {
  const compile = compilers(externalSchemas, options)
  return (route) => {
    // Problem documents are made in one place, from facts that differ with each code: there is nothing to leave out.
    if (!String(route.httpStatus).startsWith('2')) return JSON.stringify
    let serialise: ReturnType<typeof compile> | null = null
    return (answer) => {
      serialise ??= compile(route)
      return serialise(answer)
    }
  }
}
