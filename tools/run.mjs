#!/usr/bin/env node
// Runs a TypeScript file of this repository on any machine that has some Node (18 or later) and npm, and stands in for the program until it ends.
// node tools/run.mjs [--exec] FILE ARGUMENTS...   FILE from the root of the repository; --exec: a program of node_modules, such as the compiler.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { findNode, installDependencies, ROOT, refuse } from './install.mjs'

const PARENT_CHECK_MS = 500

const [first, ...rest] = process.argv.slice(2)
const [file, ...args] = first === '--exec' ? rest : [first, ...rest]
if (!file) refuse('Say which file to run: node tools/run.mjs FILE ARGUMENTS...')

await installDependencies(!file.startsWith('src/'))
runUnder(await findNode(), file, args)

function runUnder(node, program, programArgs) {
  const command = [node, join(ROOT, program), ...programArgs]
  // Where the kernel can do it, the program is told to stop when we are killed without a chance to tell it ourselves.
  const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path))
  const [head, ...tail] = setpriv ? [setpriv, '--pdeathsig', 'TERM', ...command] : command
  const child = spawn(head, tail, { stdio: 'inherit' })
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  // Ctrl-C in a terminal reaches the program by itself; a SIGINT sent to us alone does not.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
  // npm killed outright takes nobody with it; its program must not keep the port.
  const npmIsGone = process.env.npm_lifecycle_event ? watchNpm() : () => false
  setInterval(() => npmIsGone() && child.kill('SIGTERM'), PARENT_CHECK_MS).unref()
  child.once('error', (error) => refuse(`${head} cannot be started (${error.message}).`))
  child.once('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)))
}

// npm is our parent, or the parent of the shell between us: whoever loses its parent has lost npm. Only Linux shows a shell's parent.
function watchNpm() {
  const parent = process.ppid
  const { name, ppid } = readProcess(parent)
  const throughShell = /^(ba|da|a|z|k)?sh$/.test(name)
  return () => process.ppid !== parent || (throughShell && readProcess(parent).ppid !== ppid)
}

function readProcess(pid) {
  try {
    const [, name, ppid] = /^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return { name: name ?? '', ppid: Number(ppid) }
  } catch {
    return { name: '', ppid: 0 }
  }
}
