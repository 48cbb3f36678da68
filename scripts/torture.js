// Bundles the torture tests and runs them: `npm run torture -- sim --seeds 200000`. See docs/reliability.md.
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { build } from 'esbuild';

const root = new URL('..', import.meta.url).pathname;
// Beside the packages, so that those which stay outside the bundle are found.
const cache = `${root}node_modules/.cache`;
await mkdir(cache, { recursive: true });
const directory = await mkdtemp(`${cache}/torture-`);

/** A function of one text that remembers what it said; `name` is exported in place of what the module calls so. */
const remembering = (text, name) =>
  `${text.replace(`export function ${name}`, 'function first')}
const known = new Map();
export function ${name}(value, to) {
  if (typeof value !== 'string' || to === 'bytes') return first(value, to);
  let answer = known.get(value);
  if (answer === undefined) {
    answer = first(value);
    if (known.size >= 10_000) known.clear();
    known.set(value, answer);
  }
  return answer;
}`;

/** Small pieces of packages that a simulation calls a thousand times a seed, replaced by quicker ones that answer the same. */
const quickPieces = {
  name: 'quick-pieces',
  setup(bundle) {
    bundle.onResolve({ filter: /^node:async_hooks$/ }, () => ({
      path: `${root}test/reliability/simulation/quick/async-hooks.ts`,
    }));
    bundle.onLoad({ filter: /drizzle-orm\/entity\.js$/ }, async () => ({
      contents: await readFile(`${root}test/reliability/simulation/quick/entity.ts`, 'utf8'),
      loader: 'ts',
    }));
    bundle.onLoad(
      { filter: /viem\/_esm\/utils\/hash\/(?:keccak256|hashSignature)\.js$/ },
      async ({ path }) => ({
        contents: remembering(await readFile(path, 'utf8'), basename(path, '.js')),
      }),
    );
  },
};

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
    plugins: [quickPieces],
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
