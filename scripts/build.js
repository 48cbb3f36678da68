// Bundles the command line and the client script into dist/. Every command is a chunk of its own, so `--help` loads
// none of them; the client script is one file for browsers.
import { readdir, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { build } from 'esbuild';

const root = new URL('..', import.meta.url).pathname;
const result = await build({
  absWorkingDir: root,
  entryPoints: { main: 'src/cli/main.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: true,
  legalComments: 'none',
  loader: { '.sql': 'text' },
  // Native modules, and packages that find their own files at run time, stay outside the bundle.
  external: ['better-sqlite3', 'tiny-secp256k1', 'pg', 'pg-native', '@foundry-rs/anvil', 'pino', 'esbuild'],
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  metafile: true,
  logLevel: 'warning',
});

const script = await build({
  absWorkingDir: root,
  entryPoints: { sdk: 'src/sdk/sdk.ts' },
  outdir: 'dist',
  bundle: true,
  format: 'iife',
  platform: 'browser',
  target: 'es2020',
  minify: true,
  legalComments: 'none',
  tsconfig: 'src/sdk/tsconfig.json',
  metafile: true,
  logLevel: 'warning',
});

// Chunks of earlier builds go last, so that a running program never misses one of its own.
const outputs = [result, script].flatMap(({ metafile }) => Object.keys(metafile.outputs));
const fresh = new Set(outputs.map((path) => basename(path)));
for (const file of await readdir(`${root}dist`)) if (!fresh.has(file)) await rm(`${root}dist/${file}`);
