// What is bundled into dist/, for scripts/build.js and scripts/dev.js. Every command is a chunk of its own, so that one loads
// none of the others. Commands that run a stack need nearly all, and have it as one file, of which bin/rewards.js keeps V8's
// bytecode; so has help, which needs none. A thread begins with a chunk of its own. The site and the testing library are
// each one chunk for other Node programs, the client script is for browsers.
const root = new URL('..', import.meta.url).pathname;

/** Files that the program has as their text: migrations, styles, scripts for browsers. @type {Record<string, 'text'>} */
export const textFiles = { '.sql': 'text', '.css': 'text', '.browser.js': 'text' };

const forNode = {
  absWorkingDir: root,
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  sourcemap: true,
  // The sources themselves are not in the package: a map then has names and places alone.
  sourcesContent: false,
  legalComments: 'none',
  loader: textFiles,
  // Native modules, and packages that find their own files at run time, stay outside the bundle.
  external: [
    'better-sqlite3',
    'secp256k1',
    'pg',
    'pg-native',
    '@foundry-rs/anvil',
    'pino',
    'esbuild',
    '@node-rs/argon2',
  ],
  metafile: true,
  logLevel: 'warning',
};

/** @type {import('esbuild').BuildOptions & {metafile: true}} */
export const program = {
  ...forNode,
  entryPoints: {
    main: 'src/cli/main.ts',
    site: 'src/site/library.ts',
    testing: 'src/testing/library.ts',
    'derive-thread': 'src/identity/derive-thread.ts',
  },
  splitting: true,
  format: 'esm',
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
};

/** For bin/rewards.js, which calls the one function that the file is. */
const inOneFile = {
  ...forNode,
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  minifyWhitespace: true,
  lineLimit: 160,
  define: { 'import.meta.url': '__moduleUrl' },
  banner: {
    js: "(function (require, __filename, module, exports) { const __moduleUrl = require('node:url').pathToFileURL(__filename).href;",
  },
  footer: { js: '})' },
};

/** @type {import('esbuild').BuildOptions & {metafile: true}} */
export const stackProgram = {
  ...inOneFile,
  entryPoints: { stack: 'src/cli/main.ts' },
  // Node's loader of ES modules takes some milliseconds before it loads the first.
  supported: { 'dynamic-import': false },
};

/** @type {import('esbuild').BuildOptions & {metafile: true}} */
export const helpProgram = {
  ...inOneFile,
  entryPoints: { help: 'src/cli/main.ts' },
  plugins: [
    {
      name: 'without what commands do',
      setup({ onResolve }) {
        onResolve({ filter: /.*/ }, ({ kind, path }) =>
          kind === 'dynamic-import' ? { path, external: true } : undefined,
        );
      },
    },
  ],
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
