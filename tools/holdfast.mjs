#!/usr/bin/env node
// The command `holdfast`: the same as `npm run holdfast --`, from any folder.
process.argv.splice(2, 0, 'src/cli.ts')
await import('./run.mjs')
