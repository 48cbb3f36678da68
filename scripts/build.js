// Bundles the command line and the client script into dist/, and writes the notices of the packages that are in them.
import { copyFile, readdir, rm, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { build } from 'esbuild';
import { clientScript, helpProgram, program, stackProgram, webhooksLibrary } from './bundles.js';
import { bundledFolders, thirdPartyNotices } from './third-party-notices.js';

const root = new URL('..', import.meta.url).pathname;
const results = [];
for (const bundle of [program, stackProgram, helpProgram, clientScript, webhooksLibrary])
  results.push(await build(bundle));

const folders = bundledFolders(
  root,
  results.map(({ metafile }) => metafile),
);
await writeFile(`${root}THIRD_PARTY_NOTICES.txt`, thirdPartyNotices(root, folders));

// The declarations of what other programs import are sources that import nothing of the program.
await copyFile(`${root}src/site/library-types.ts`, `${root}dist/site.d.ts`);
await copyFile(`${root}src/testing/library-types.ts`, `${root}dist/testing.d.ts`);
await copyFile(`${root}src/webhooks/library-types.ts`, `${root}dist/webhooks.d.ts`);

// Chunks of earlier builds, and bytecode of them, go last, so that a running program never misses one of its own.
const fresh = new Set([
  'site.d.ts',
  'testing.d.ts',
  'webhooks.d.ts',
  ...results.flatMap(({ metafile }) => Object.keys(metafile.outputs)).map((path) => basename(path)),
]);
for (const file of await readdir(`${root}dist`)) if (!fresh.has(file)) await rm(`${root}dist/${file}`);
