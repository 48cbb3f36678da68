// Bundles the torture tests and runs them: `npm run torture -- sim --seeds 200000`. See docs/reliability.md.
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { build } from 'esbuild';

const root = new URL('..', import.meta.url).pathname;
// Beside the packages, so that those which stay outside the bundle are found.
const cache = `${root}node_modules/.cache`;
await mkdir(cache, { recursive: true });
const directory = await mkdtemp(`${cache}/torture-`);

let code = 1;
try {
  await build({
    absWorkingDir: root,
    entryPoints: { main: 'test/reliability/long-runs/main.ts' },
    outdir: directory,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: true,
    loader: { '.sql': 'text' },
    external: ['better-sqlite3'],
    logLevel: 'warning',
  });
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', `${directory}/main.mjs`, ...process.argv.slice(2)],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  code = await new Promise((resolve) => child.on('exit', (status) => resolve(status ?? 1)));
} finally {
  await rm(directory, { recursive: true, force: true });
}
process.exitCode = code;
