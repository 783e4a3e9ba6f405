// Remembers what was used lately, in bounded space: two maps in turn, for here nothing has to be thrown away exactly when it is due.

export type Recent<Value> = { get(key: string): Value | undefined; set(key: string, value: Value): Value }

/** At least the `max` keys used last are remembered, and at most twice as many. */
export function recent<Value>(max: number): Recent<Value> {
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()
  function set(key: string, value: Value): Value {
    if (young.size >= max && !young.has(key)) {
      old = young
      young = new Map()
    }
    young.set(key, value)
    return value
  }
  return {
    set,
    get(key) {
      const value = young.get(key)
      if (value !== undefined) return value
      const earlier = old.size === 0 ? undefined : old.get(key)
      return earlier === undefined ? undefined : set(key, earlier)
    },
  }
}
