// Plays a crowd in a thread of its own, against a store in its memory on a clock it moves, or against Redis on the real one.
import { parentPort, workerData } from 'node:worker_threads'
import { memoryStore } from '#waiting-room/memory-store.ts'
import { type CrowdPlan, playCrowd } from './crowd.ts'
import { openRedisStore, openRoomOf } from './two-stores.ts'

/** `url` of the Redis; null: in memory. */
export type CrowdJob = { url: string | null; activeMax: number; goneMs: number; plan: CrowdPlan }

const { url, activeMax, goneMs, plan } = workerData as CrowdJob
const rules = { goneMs, admissionTtlMs: 900_000 }
const atEnd: (() => unknown)[] = []
let clockMs = 1_800_000_000_000
const advance = (ms: number) => {
  clockMs += ms
}
const store =
  url === null
    ? memoryStore(rules, () => clockMs)
    : await openRedisStore({ after: (close) => atEnd.push(close as () => unknown) }, [url], rules)
parentPort?.postMessage(await playCrowd(store, openRoomOf({ activeMax }), plan, url === null ? advance : null))
for (const close of atEnd) close()
