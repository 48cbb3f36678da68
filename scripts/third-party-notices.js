// What of other packages is in dist/, and the notices that their licences want to come with it. scripts/build.js writes
// them to THIRD_PARTY_NOTICES.txt.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const CONTRACTS = 'src/chain/contracts';
const LINE = '-'.repeat(80);

/**
 * The folders of the packages whose code is in the bundles, below `root`: what esbuild's metafiles name, and what the
 * contracts, whose bytecode is bundled as well, import.
 *
 * @param {string} root
 * @param {{outputs: Record<string, {inputs: object}>}[]} metafiles
 * @returns {string[]}
 */
export function bundledFolders(root, metafiles) {
  const files = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs)),
  );
  const folders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file) ?? []);
  return [...new Set([...folders, ...importedByContracts(root)])].sort();
}

function importedByContracts(root) {
  const folder = join(root, CONTRACTS);
  if (!existsSync(folder)) return [];
  const sources = readdirSync(folder).filter((name) => name.endsWith('.sol'));
  return sources.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/from\s+"(@[^/"]+\/[^/"]+)\//g)].map(
      ([, imported]) => `node_modules/${imported}`,
    ),
  );
}

/**
 * The notices of the packages in these folders. Throws for a package without a licence, or without the licence's text.
 *
 * @param {string} root
 * @param {string[]} folders
 * @returns {string}
 */
export function thirdPartyNotices(root, folders) {
  const entries = new Map(folders.map((folder) => entryOf(root, folder)));
  return [
    'The programs in dist/ contain code of the packages below, each under its own licence.\n',
    ...[...entries]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([title, text]) => `${LINE}\n${title}\n${LINE}\n\n${text}\n`),
  ].join('\n');
}

/** `name version (licence)` and the text under it. */
function entryOf(root, folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  if (typeof license !== 'string')
    throw new Error(`${name} ${version} is bundled, but its package.json names no licence`);
  const own = readdirSync(join(root, folder)).filter((file) => /^(licen[cs]e|copying|notice)\b/i.test(file));
  const texts = own.sort().map((file) => readFileSync(join(root, folder, file), 'utf8').trim());
  if (!own.some((file) => !/^notice/i.test(file))) texts.unshift(missingText(name, license));
  return [`${name} ${version} (${license})`, texts.join('\n\n')];
}

/** For packages that leave their licence's text out: kept here, by the package's name or the licence's. */
function missingText(name, license) {
  const files = [name.replace('@', '').replace('/', '-'), license].map((file) => `${file}.txt`);
  const paths = files.map((file) => new URL(`licenses/${file}`, import.meta.url));
  const path = paths.find((one) => existsSync(one));
  if (path) return readFileSync(path, 'utf8').trim();
  throw new Error(
    `${name} is bundled, but comes without the text of its licence: put it into scripts/licenses/${files[0]}`,
  );
}
