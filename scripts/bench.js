// Builds the program, bundles the measurements and runs them: `npm run bench -- --quick`, `npm run bench -- verify`, `npm run bench -- leaderboard`, `npm run bench -- memory`, `npm run bench -- budget`, `npm run bench -- endurance`; `--help` lists their options. See docs/performance.md.
import { spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { build } from 'esbuild';
import { textFiles } from './bundles.js';

/** `verify` measures the comparison of ledger and chain, `leaderboard` its reading, `memory` what `serve` holds, `budget` the parts of an event, `endurance` a long load; anything else events and relays. */
const others = ['verify', 'leaderboard', 'memory', 'budget', 'endurance'];
const measurement = others.find((name) => name === process.argv[2]);
/** With `--help`, each says what may come after it, and none measures. */
const asked = process.argv.includes('--help')
  ? ['main', ...others].filter((name) => !measurement || name === measurement)
  : undefined;
const root = new URL('..', import.meta.url).pathname;
if (!asked) {
  // What is measured is the program as the sources have it now.
  const built = spawnSync(process.execPath, [`${root}scripts/build.js`], { stdio: 'inherit' });
  if (built.status !== 0) process.exit(built.status ?? 1);
}
// Beside the packages, all of which stay outside the bundle, so that they are found.
const cache = `${root}node_modules/.cache`;
await mkdir(cache, { recursive: true });
const directory = await mkdtemp(`${cache}/bench-`);

let code = 1;
try {
  await build({
    absWorkingDir: root,
    entryPoints: {
      main: 'bench/main.ts',
      generator: 'bench/load/generator.ts',
      'sqlite-server': 'bench/baselines/sqlite-server.ts',
      'postgres-server': 'bench/baselines/postgres-server.ts',
      'answering-server': 'bench/baselines/answering-server.ts',
      verify: 'bench/verify/main.ts',
      'verify-node': 'bench/verify/node-process.ts',
      leaderboard: 'bench/leaderboard/main.ts',
      memory: 'bench/memory/main.ts',
      budget: 'bench/budget/main.ts',
      endurance: 'bench/endurance/main.ts',
      'report-memory': 'bench/memory/report-memory.ts',
    },
    outdir: directory,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: true,
    loader: textFiles,
    logLevel: 'warning',
  });
  for (const name of asked ?? [measurement ?? 'main']) {
    const child = spawn(
      process.execPath,
      ['--enable-source-maps', `${directory}/${name}.mjs`, ...process.argv.slice(2)],
      { stdio: 'inherit', env: { ...process.env, REWARDS_BENCH_PROGRAM: `${root}bin/rewards.js` } },
    );
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
    code = await new Promise((resolve) => child.on('exit', (status) => resolve(status ?? 1)));
    if (code !== 0) break;
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}
process.exitCode = code;
