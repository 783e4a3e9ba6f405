// Chance with a seed: the same seed plays the same crowd, whatever the machine and however many processes share it.

export type Chance = {
  /** From 0 to below 1. */
  next(): number
  /** Both ends included. */
  whole(min: number, max: number): number
  /** One of the names, as often as their weights say. */
  choose<Name extends string>(weights: Record<Name, number>): Name
  /** A pause around this length: half to one and a half of it. */
  aroundMs(meanMs: number): number
}

/** `stream` separates the chances of one seed: each buyer has their own, so that no buyer's luck hangs on the order in which others ask. */
export function chanceOf(seed: number, stream: number): Chance {
  // mulberry32; the two numbers are mixed first, for neighbouring streams would otherwise begin alike.
  let state = mix(mix(seed) ^ Math.imul(stream + 1, 0x9e3779b1))
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    return mix(state) / 4_294_967_296
  }
  return {
    next,
    whole: (min, max) => min + Math.floor(next() * (max - min + 1)),
    choose(weights) {
      const entries = Object.entries(weights) as [keyof typeof weights, number][]
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      for (const [name, weight] of entries) {
        left -= weight
        if (left < 0) return name
      }
      return entries[0]?.[0] as keyof typeof weights
    },
    aroundMs: (meanMs) => Math.round(meanMs * (0.5 + next())),
  }
}

function mix(value: number): number {
  let t = Math.imul(value ^ (value >>> 15), 1 | value)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return (t ^ (t >>> 14)) >>> 0
}
