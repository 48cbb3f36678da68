/** The pages beside the code name files and lead to other pages: what they name is there. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = new URL('..', import.meta.url).pathname;
const files = [
  ...(await readdir(root)),
  ...(await readdir(join(root, 'docs'), { recursive: true })).map((file) => `docs/${file}`),
];
const pages = files.filter((file) => file.endsWith('.md')).sort();
const PATH = /`((?:src|test|docs|scripts|bench|fixtures|bin)\/[\w./-]*)`/g;

test.each(pages)('%s names files that exist', async (page) => {
  const text = await readFile(join(root, page), 'utf8');
  const named = [...text.matchAll(PATH)].map(([, path = '']) => path);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test.each(pages)('%s has links that lead somewhere', async (page) => {
  const text = await readFile(join(root, page), 'utf8');
  const targets = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
  const local = targets.filter((target) => !/^[a-z]+:/.test(target));
  expect(local.filter((target) => !existsSync(join(root, dirname(page), target)))).toEqual([]);
});
