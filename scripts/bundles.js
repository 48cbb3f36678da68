// What is bundled into dist/, for scripts/build.js and scripts/dev.js. Every command is a chunk of its own, so that one loads
// none of the others. Commands that run a stack need nearly all, and have it as one file, of which bin/rewards.js keeps V8's
// bytecode; so has help, which needs none. A thread begins with a chunk of its own, and so does the live view, for which a
// stack that is ready loads React. The site and the testing library are each one chunk for other Node programs, what verifies
// webhooks is a file for whatever runs JavaScript, the client script is for browsers.
import { readFile, writeFile } from 'node:fs/promises';

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

/** Ink's connection to a debugger of React's, and its look at CI: the command line has decided before it draws. */
const inkAlone = {
  name: 'Ink without its debugger',
  setup({ onResolve, onLoad }) {
    const stub = (contents) => () => ({ path: contents, namespace: 'stub' });
    onResolve({ filter: /^react-devtools-core$/ }, stub('export default {};'));
    onResolve({ filter: /^is-in-ci$/ }, stub('export default false;'));
    onLoad({ filter: /.*/, namespace: 'stub' }, ({ path }) => ({ contents: path }));
  },
};

/** @type {import('esbuild').BuildOptions & {metafile: true}} */
export const program = {
  ...forNode,
  entryPoints: {
    main: 'src/cli/main.ts',
    site: 'src/site/library.ts',
    testing: 'src/testing/library.ts',
    'derive-thread': 'src/identity/derive-thread.ts',
    'live-view': 'src/cli/view/live-view.tsx',
  },
  splitting: true,
  format: 'esm',
  // React has another program for those who develop with it.
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [inkAlone],
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
};

/** bin/rewards.js reads it byte by byte; esbuild escapes what is not ASCII, but for the texts of tagged templates. */
const inAscii = {
  name: 'ASCII alone',
  setup({ onEnd }) {
    onEnd(async ({ metafile }) => {
      const files = Object.keys(metafile?.outputs ?? {}).filter((path) => path.endsWith('.cjs'));
      for (const file of files.map((path) => `${root}${path}`)) {
        const text = await readFile(file, 'utf8');
        const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
        await writeFile(file, text.replaceAll(/[^\0-\x7f]/g, escaped));
      }
    });
  },
};

/** The live view stays a chunk beside the file, which cannot import by itself: bin/rewards.js does it. */
const viewBeside = {
  name: 'the live view beside it',
  setup({ onLoad }) {
    onLoad({ filter: /\/cli\/view\/load-live-view\.ts$/ }, () => ({
      contents: "export const loadLiveView = () => __import(new URL('./live-view.js', __moduleUrl).href);",
    }));
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
    js: "(function (require, __filename, module, exports, __import) { const __moduleUrl = require('node:url').pathToFileURL(__filename).href;",
  },
  footer: { js: '})' },
  plugins: [inAscii],
};

/** @type {import('esbuild').BuildOptions & {metafile: true}} */
export const stackProgram = {
  ...inOneFile,
  entryPoints: { stack: 'src/cli/main.ts' },
  plugins: [inAscii, viewBeside],
  // Node's loader of ES modules takes some milliseconds before it loads the first.
  supported: { 'dynamic-import': false },
};

/** @type {import('esbuild').BuildOptions & {metafile: true}} */
export const helpProgram = {
  ...inOneFile,
  entryPoints: { help: 'src/cli/main.ts' },
  plugins: [
    inAscii,
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

/** @type {import('esbuild').BuildOptions & {metafile: true}} */
export const webhooksLibrary = {
  absWorkingDir: root,
  entryPoints: { webhooks: 'src/webhooks/library.ts' },
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
};
