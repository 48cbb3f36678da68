// Bundles a program of the tests and runs it: `node scripts/run-bundled.js <entry> [arguments]`. See docs/reliability.md.
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { build } from 'esbuild';
import { textFiles } from './bundles.js';

const root = new URL('..', import.meta.url).pathname;
const [entry, ...args] = process.argv.slice(2);
if (!entry)
  throw new Error('run-bundled: name the program to bundle, for example test/reliability/long-runs/main.ts');
// Beside the packages, so that those which stay outside the bundle are found.
const cache = `${root}node_modules/.cache`;
await mkdir(cache, { recursive: true });
const directory = await mkdtemp(`${cache}/bundled-`);

let code = 1;
try {
  await build({
    absWorkingDir: root,
    entryPoints: { main: entry },
    outdir: directory,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: true,
    loader: textFiles,
    // What finds its own files beside itself.
    external: [
      ...['better-sqlite3', 'secp256k1', 'solc', 'esbuild'],
      ...['@stryker-mutator/*', '@babel/parser'],
    ],
    logLevel: 'warning',
  });
  const child = spawn(process.execPath, ['--enable-source-maps', `${directory}/main.mjs`, ...args], {
    cwd: root,
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  code = await new Promise((resolve) => child.on('exit', (status) => resolve(status ?? 1)));
} finally {
  await rm(directory, { recursive: true, force: true });
}
process.exitCode = code;
