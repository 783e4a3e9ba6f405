// A process of its own for the tests that kill one: starts the embedded PostgreSQL on the folder given, says `ready PID` and stays.
import { startEmbeddedPostgres } from '#database/embedded.ts'

const [dir = ''] = process.argv.slice(2)
const server = await startEmbeddedPostgres({ dir, log: (line) => console.error(line), settings: { fsync: 'off' } })
console.log(`ready ${process.pid}`)
process.once('SIGTERM', () => void server.stop().then(() => process.exit(0)))
setInterval(() => {}, 60_000)
