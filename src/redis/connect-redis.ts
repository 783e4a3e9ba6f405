// The connection to Redis, one server or a cluster, made to fail fast: Redis only ever saves work here, so a slow answer is worse than none.
import { Cluster, Redis as Single } from 'ioredis'

/** One server or a cluster; both know the same commands. In a cluster every call's keys share one hash tag. */
export type Redis = Single | Cluster

export type RedisOptions = {
  /** Longer than this a command does not take: the promise rejects, whatever the server does (a stopped server included). */
  commandTimeoutMs?: number
  /** Told about lost connections; without a listener they would end the process. */
  onError?: (error: Error) => void
}

const COMMAND_TIMEOUT_MS = 150
const CONNECT_TIMEOUT_MS = 2_000
// A slot that moved is found with one; more are a cluster in trouble, and whoever waits for it is better told so.
const REDIRECTIONS_MAX = 3
// Away is noticed at once, and back within this.
const RECONNECT_MAX_MS = 1_000

/**
 * `urls`: one is a server, several are the known nodes of a cluster. Connects in the background and again by itself; while it is away every command rejects
 * at once (no queue), so that the caller's fallback answers. Close it with `quit()` or `disconnect()`.
 */
export function connectRedis(urls: readonly string[], options: RedisOptions = {}): Redis {
  const { commandTimeoutMs = COMMAND_TIMEOUT_MS, onError = () => {} } = options
  const shared = {
    commandTimeout: commandTimeoutMs,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    // What was under way when a connection broke is not sent again behind the caller's back: it has been given up, and would be done seconds too late.
    autoResendUnfulfilledCommands: false,
  }
  const wait = (times: number) => Math.min(50 * times, RECONNECT_MAX_MS)
  const redis: Redis =
    urls.length === 1
      ? new Single(urls[0] ?? '', { ...shared, retryStrategy: wait })
      : new Cluster([...urls], {
          redisOptions: shared,
          enableOfflineQueue: false,
          enableAutoPipelining: true,
          clusterRetryStrategy: wait,
          slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
          maxRedirections: REDIRECTIONS_MAX,
        })
  redis.on('error', onError)
  return redis
}
