// Bundles the command line and the client script into dist/.
import { readdir, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { build } from 'esbuild';
import { clientScript, program } from './bundles.js';

const root = new URL('..', import.meta.url).pathname;
const results = [await build(program), await build(clientScript)];

// Chunks of earlier builds go last, so that a running program never misses one of its own.
const fresh = new Set(
  results.flatMap(({ metafile }) => Object.keys(metafile.outputs)).map((path) => basename(path)),
);
for (const file of await readdir(`${root}dist`)) if (!fresh.has(file)) await rm(`${root}dist/${file}`);
