// Where no real broker can run: librdkafka's mock cluster. It speaks the protocol over TCP, but has no disk, no replicas and forgets what a restart forgets.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import type { Server } from './kafka.ts'

const UNPACKED = join(new URL('../..', import.meta.url).pathname, '.runtime', 'librdkafka')
// Topics have to be named before it starts; it cannot be asked for one afterwards.
const TOPICS = ['booking-events:3']
const PROGRAM = `
import ctypes as C, sys
L = C.CDLL(sys.argv[1]); V, S, I, H = C.c_void_p, C.c_char_p, C.c_int, C.c_int16
def f(n, r, *a): g = getattr(L, n); g.restype = r; g.argtypes = list(a); return g
err = C.create_string_buffer(512); conf = f('rd_kafka_conf_new', V)()
f('rd_kafka_conf_set', I, V, S, S, S, C.c_size_t)(conf, b'log_level', b'0', err, 512)
rk = f('rd_kafka_new', V, I, V, S, C.c_size_t)(0, conf, err, 512)
mc = f('rd_kafka_mock_cluster_new', V, V, I)(rk, 1)
api = f('rd_kafka_mock_set_apiversion', I, V, H, H, H); api(mc, 2, 0, 3); api(mc, 22, 0, 2)
for t in sys.argv[2:]:
    n, p = t.split(':'); f('rd_kafka_mock_topic_create', I, V, S, I, I)(mc, n.encode(), int(p), 1)
print(f('rd_kafka_mock_cluster_bootstraps', S, V)(mc).decode(), flush=True)
down, up = f('rd_kafka_mock_broker_set_down', I, V, C.c_int32), f('rd_kafka_mock_broker_set_up', I, V, C.c_int32)
for line in sys.stdin:
    (down if line.strip() == 'down' else up)(mc, 1); print('ok', flush=True)
`

/** `why` no broker: the sentence goes into what the test says. Throws with what to install when there is no mock either. */
export async function startMockKafka(t: Pick<TestContext, 'after'>, why: string): Promise<Server> {
  const library = findLibrary()
  const child = spawn('python3', ['-c', PROGRAM, library, ...TOPICS], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const broker = String((await lines.next()).value)
  const tell = async (command: 'down' | 'up') => {
    child.stdin.write(`${command}\n`)
    await lines.next()
  }
  return {
    what: `NOT a real Kafka but librdkafka's mock cluster, because ${why}`,
    broker,
    createTopic: async () => {},
    start: () => tell('up'),
    stop: () => tell('down'),
    kill: () => tell('down'),
    hang: () => void child.kill('SIGSTOP'),
    goOn: () => void child.kill('SIGCONT'),
  }
}

function findLibrary(): string {
  if (spawnSync('python3', ['-c', "import ctypes; ctypes.CDLL('librdkafka.so.1')"]).status === 0)
    return 'librdkafka.so.1'
  if (!existsSync(UNPACKED)) unpack()
  const root = join(UNPACKED, 'usr', 'lib')
  const found = existsSync(root) ? readdirSync(root, { recursive: true, encoding: 'utf8' }) : []
  const library = found.find((path) => path.endsWith('librdkafka.so.1'))
  if (library) return join(root, library)
  throw new Error(
    'No Kafka to test with: install Java 17 and Maven (Debian: default-jre-headless, maven), or librdkafka1 and python3.',
  )
}

// Needs no rights beyond this folder.
function unpack(): void {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-packages-'))
  spawnSync('apt-get', ['download', 'librdkafka1'], { cwd: folder })
  mkdirSync(UNPACKED, { recursive: true })
  for (const file of readdirSync(folder)) spawnSync('dpkg-deb', ['-x', join(folder, file), UNPACKED])
  rmSync(folder, { recursive: true, force: true })
}
