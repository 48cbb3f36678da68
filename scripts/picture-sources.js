/** Which sources each picture of docs/images shows: `npm run pictures` notes their state, CI names pictures that are older. */
import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = new URL('../', import.meta.url).pathname;
const NOTED = join(root, 'docs/images/sources.json');

const terminal = ['src/cli/terminal', 'scripts/pictures.js'];
const SOURCES = {
  'serve.svg': ['src/cli/run/banner.ts', ...terminal],
  'send-event.svg': ['src/cli/talk/send-event.ts', 'src/cli/talk/receive-event.ts', ...terminal],
  'explain.svg': ['src/cli/talk/requests', ...terminal],
  'live-view.svg': ['src/cli/view', 'scripts/live-view-picture.js', ...terminal],
  'scenario.svg': ['src/cli/talk/scenario', 'src/scenario', ...terminal],
  'checkout.png': ['src/emulator/processor/checkout'],
  'console-*.png': ['src/console', 'scripts/console-pictures.js'],
  'site-*.png': ['src/site', 'scripts/site-pictures.js'],
};

async function filesBelow(path) {
  if (!(await stat(path)).isDirectory()) return [path];
  const inside = (await readdir(path)).sort();
  return (await Promise.all(inside.map((name) => filesBelow(join(path, name))))).flat();
}

/** A hash of each picture's sources, by the picture's name. */
async function sourcesNow() {
  const hashes = Object.entries(SOURCES).map(async ([picture, paths]) => {
    const hash = createHash('sha256');
    for (const path of paths)
      for (const file of await filesBelow(join(root, path))) hash.update(await readFile(file));
    return [picture, hash.digest('hex').slice(0, 16)];
  });
  return Object.fromEntries(await Promise.all(hashes));
}

/** Keeps what the pictures, just made, show. */
export async function noteShown() {
  await writeFile(NOTED, `${JSON.stringify(await sourcesNow(), null, 2)}\n`);
}

/** Pictures whose sources have changed since they were made. */
export async function olderPictures() {
  const [now, noted] = await Promise.all([sourcesNow(), readFile(NOTED, 'utf8').then(JSON.parse)]);
  return Object.keys(now).filter((picture) => now[picture] !== noted[picture]);
}

if (import.meta.filename === process.argv[1]) {
  const older = await olderPictures();
  const said =
    older.length === 0
      ? 'Every picture shows the product as it is.'
      : `Older than what they show, \`npm run pictures\` draws them: ${older.join(', ')}`;
  console.log(said);
}
