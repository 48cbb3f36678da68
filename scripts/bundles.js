// What is bundled into dist/, for scripts/build.js and scripts/dev.js. Every command is a chunk of its own, so `--help`
// loads none of them; the client script is one file for browsers.
const root = new URL('..', import.meta.url).pathname;

/** @type {import('esbuild').BuildOptions & {metafile: true}} */
export const program = {
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
};

/** @type {import('esbuild').BuildOptions & {metafile: true}} */
export const clientScript = {
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
};
