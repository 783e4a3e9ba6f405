// Starts the server side of the HTTP benchmarks as a process of its own, and ends it.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Stage } from './bench.ts'
import type { HttpStage } from './http-server.ts'

/** `customers`: how many session tokens it makes. */
export async function startServer(
  address: Stage['address'],
  customers: number,
  processes: number,
): Promise<{ stage: HttpStage; pid: number; stop(): void }> {
  const file = new URL('./http-server.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [file, JSON.stringify(address), String(customers), String(processes)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    return { stage: JSON.parse(line) as HttpStage, pid: child.pid ?? 0, stop: () => child.kill('SIGKILL') }
  }
  throw new Error('the benchmark server ended before it served')
}
