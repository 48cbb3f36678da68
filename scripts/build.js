// Bundles the command line and the client script into dist/, and writes the notices of the packages that are in them.
import { readdir, rm, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { build } from 'esbuild';
import { clientScript, program } from './bundles.js';
import { bundledFolders, thirdPartyNotices } from './third-party-notices.js';

const root = new URL('..', import.meta.url).pathname;
const results = [await build(program), await build(clientScript)];

const folders = bundledFolders(
  root,
  results.map(({ metafile }) => metafile),
);
await writeFile(`${root}THIRD_PARTY_NOTICES.txt`, thirdPartyNotices(root, folders));

// Chunks of earlier builds go last, so that a running program never misses one of its own.
const fresh = new Set(
  results.flatMap(({ metafile }) => Object.keys(metafile.outputs)).map((path) => basename(path)),
);
for (const file of await readdir(`${root}dist`)) if (!fresh.has(file)) await rm(`${root}dist/${file}`);
